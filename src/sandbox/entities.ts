import type { Json, Member, User, World } from "./types.ts";

/** A user as it stands inside other things. */
export function userBasic(world: World, id: number | null | undefined): Json | null {
  const user = world.users.find((row) => row.id === id);
  if (!user) return null;
  return {
    id: user.id,
    username: user.username,
    public_email: "",
    name: user.name,
    state: user.state,
    locked: false,
    avatar_url: `${world.url}/uploads/-/system/user/avatar/${user.id}/avatar.png`,
    web_url: `${world.url}/${user.username}`,
  };
}

export const usersBasic = (world: World, ids: readonly number[]): Json[] =>
  ids.map((id) => userBasic(world, id)).filter((user) => user !== null);

export function userPublic(world: World, user: User): Json {
  return {
    ...userBasic(world, user.id),
    created_at: user.created_at,
    bio: user.bio,
    location: user.location,
    linkedin: "",
    twitter: "",
    discord: "",
    website_url: "",
    github: "",
    job_title: user.job_title,
    pronouns: null,
    organization: "",
    bot: user.bot,
    work_information: user.job_title || null,
    followers: 0,
    following: 0,
    is_followed: false,
    local_time: null,
  };
}

/** A user as it sees itself, or an administrator sees it. */
export function userFull(world: World, user: User): Json {
  return {
    ...userPublic(world, user),
    last_sign_in_at: "2026-11-02T08:12:00.000Z",
    confirmed_at: user.created_at,
    last_activity_on: "2026-11-02",
    email: user.email,
    theme_id: 3,
    color_scheme_id: 1,
    projects_limit: 100_000,
    current_sign_in_at: "2026-11-02T08:12:00.000Z",
    identities: [],
    can_create_group: true,
    can_create_project: true,
    two_factor_enabled: user.admin,
    external: false,
    private_profile: false,
    commit_email: user.email,
    preferred_language: "en",
    shared_runners_minutes_limit: null,
    extra_shared_runners_minutes_limit: null,
    scim_identities: [],
    ...(user.admin ? { is_admin: true } : {}),
  };
}

export function memberJson(world: World, member: Member): Json {
  return {
    ...userBasic(world, member.user_id),
    access_level: member.access_level,
    created_at: member.created_at,
    created_by: userBasic(world, member.created_by_id),
    expires_at: member.expires_at,
    membership_state: "active",
  };
}
