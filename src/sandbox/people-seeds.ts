import { fixture } from "./fixtures.ts";
import { blankProject } from "./projects.ts";
import type { Group, Label, Member, Milestone, Project, Token, User, World } from "./types.ts";

const LONG_AGO = "2024-01-15T09:00:00.000Z";

/** Counters go on above what the seeds use. */
function use(world: World, name: string, rows: readonly { readonly id: number }[]): void {
  for (const { id } of rows) world.usedId(name, id);
}

/** Users, tokens, groups, projects, members, labels and milestones. */
export function seedPeople(world: World): void {
  const users = fixture<(Partial<User> & Pick<User, "id" | "username" | "name" | "email">)[]>("users");
  world.users.push(
    ...users
      .map((row) => ({
        state: "active" as const,
        admin: false,
        bot: false,
        created_at: LONG_AGO,
        bio: "",
        location: "",
        job_title: "",
        ...row,
      }))
      .sort((one, other) => one.id - other.id),
  );
  const tokens = fixture<(Partial<Token> & Pick<Token, "id" | "value" | "name" | "user_id" | "scopes" | "expires_at">)[]>("tokens");
  world.tokens.push(
    ...tokens.map((row) => ({
      kind: "personal" as const,
      description: null,
      revoked: false,
      created_at: "2026-06-01T08:00:00.000Z",
      last_used_at: null,
      ...row,
    })),
  );
  const { groups, members } = fixture<{ groups: Group[]; members: Member[] }>("groups");
  world.groups.push(...groups.map((row) => ({ ...row, created_at: LONG_AGO, extra: {} })));
  world.members.push(...members.map((row) => ({ ...row, created_at: LONG_AGO, created_by_id: 1, expires_at: row.expires_at ?? null })));
  const projects = fixture<(Partial<Project> & Pick<Project, "namespace" | "path" | "creator_id">)[]>("projects");
  world.projects.push(
    ...projects.map((row) => {
      const blank = blankProject(world, row.namespace, row.path, row.creator_id);
      return { ...blank, ...row, updated_at: row.last_activity_at ?? blank.updated_at };
    }),
  );
  world.labels.push(...fixture<Label[]>("labels").map((row) => ({ ...row, subscribers: [] })));
  world.milestones.push(
    ...fixture<Milestone[]>("milestones").map((row) => ({
      ...row,
      created_at: `${row.start_date}T08:00:00.000Z`,
      updated_at: `${row.start_date}T08:00:00.000Z`,
    })),
  );
  use(world, "user", [...world.users, { id: 20 }]);
  use(world, "token", [...world.tokens, { id: 50 }]);
  use(world, "group", [...world.groups, { id: 20 }]);
  use(world, "project", [...world.projects, { id: 200 }]);
  use(world, "label", [...world.labels, { id: 300 }]);
  use(world, "milestone", [...world.milestones, { id: 350 }]);
}
