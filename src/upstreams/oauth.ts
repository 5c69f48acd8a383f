import { type AuthProvider, type FetchLike, OAuthError, refreshAuthorization, UnauthorizedError } from "@modelcontextprotocol/client";
import type { SignedIn, SignInStore } from "./oauth-store.ts";

/** Only the user can go on from here, and by what. */
export class SignInNeeded extends Error {
  override readonly name = "SignInNeeded";
}

/** How one connection proves who it is. */
export interface ConnectionAuth {
  readonly authProvider: AuthProvider;
  readonly fetch: FetchLike;
}

/** Credentials of an upstream that are looked up, and renewed, while it runs. */
export interface UpstreamAuth {
  /** @throws SignInNeeded before anything is sent. */
  ready(): Promise<void>;
  connection(): ConnectionAuth;
}

export interface OAuthOptions {
  /** Root of the GitLab that the tokens belong to. */
  readonly instance: string;
  readonly store: SignInStore;
  /** Tried where nobody has signed in. */
  readonly fallback?: string;
  /** How the instance is reached, where that is not plainly. */
  readonly reach?: FetchLike | undefined;
  /** From now on masked wherever it turns up. */
  readonly hide: (secret: string) => void;
  readonly now?: () => number;
}

/** Renewed this long before it expires (ms). */
const AHEAD = 30_000;
const MOST_REDIRECTS = 3;

const REDIRECTS = [301, 302, 303, 307, 308];

/** A short request (ms); well below the time after which the lock on the file counts as left behind. */
export const SHORT = 20_000;

/** Sends to this origin and nowhere else, redirects included: neither a token nor a code can go astray. */
export function withinOrigin(instance: string, timeout?: number, reach: FetchLike = fetch): FetchLike {
  const { origin } = new URL(instance);
  return async (input, init) => {
    let url = new URL(input);
    for (let hop = 0; ; hop++) {
      if (url.origin !== origin) throw new Error(`${url.origin} is not ${origin}: nothing was sent there`);
      const limit = timeout === undefined ? {} : { signal: AbortSignal.timeout(timeout) };
      const response = await reach(url, { ...init, ...limit, redirect: "manual" });
      const to = response.headers.get("location");
      const reads = (init?.method ?? "GET") === "GET";
      if (!reads || to === null || !REDIRECTS.includes(response.status) || hop === MOST_REDIRECTS) return response;
      await response.body?.cancel();
      url = new URL(to, url);
    }
  };
}

/** @param expiresIn seconds */
export const expiry = (expiresIn: number | undefined, now: number): { readonly expires?: number } =>
  expiresIn === undefined ? {} : { expires: now + expiresIn * 1_000 };

/** The command that signs in at an instance. */
export const signInCommand = (instance: string): string => `gitlab-toolset-bridge sign-in --url=${instance}`;

const authorizationOf = (init: RequestInit | undefined): string => new Headers(init?.headers).get("authorization") ?? "";

/** Bearer tokens of a sign-in: shared by all connections, renewed by one at a time, over all processes of this user. */
export class OAuthTokens implements UpstreamAuth {
  readonly #options: OAuthOptions;
  readonly #send: FetchLike;
  readonly #now: () => number;
  #renewing: Promise<void> | undefined;

  constructor(options: OAuthOptions) {
    this.#options = options;
    this.#send = withinOrigin(options.instance, undefined, options.reach);
    this.#now = options.now ?? Date.now;
  }

  #needed(why: string): SignInNeeded {
    return new SignInNeeded(`${why}; the user runs "${signInCommand(this.#options.instance)}"`);
  }

  #saved(): SignedIn | undefined {
    const saved = this.#options.store.read();
    for (const secret of [saved?.accessToken, saved?.refreshToken]) if (secret !== undefined) this.#options.hide(secret);
    return saved;
  }

  /** @throws SignInNeeded */
  async #token(): Promise<string> {
    const saved = this.#saved();
    if (saved?.accessToken === undefined) {
      if (saved === undefined && this.#options.fallback !== undefined) return this.#options.fallback;
      throw this.#needed(saved ? "the sign-in has ended, it needs another" : "it needs a sign-in");
    }
    if (saved.expires === undefined || this.#now() < saved.expires - AHEAD) return saved.accessToken;
    await this.#renew(saved.accessToken);
    return this.#saved()?.accessToken ?? saved.accessToken;
  }

  async ready(): Promise<void> {
    await this.#token();
  }

  /** Puts another token in place of this one, unless that was done already. @throws SignInNeeded */
  #renew(rejected: string): Promise<void> {
    this.#renewing ??= this.#options.store
      .alone(() => this.#exchange(rejected))
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  async #exchange(rejected: string): Promise<void> {
    const { store } = this.#options;
    const saved = this.#saved();
    if (saved?.accessToken !== undefined && saved.accessToken !== rejected) return;
    if (saved === undefined) throw this.#needed("it takes no other token than that of a sign-in");
    const { accessToken: _old, refreshToken, expires: _then, ...ended } = saved;
    if (refreshToken === undefined) {
      store.write(ended);
      throw this.#needed("the sign-in has ended, it needs another");
    }
    try {
      const tokens = await refreshAuthorization(saved.issuer, {
        metadata: {
          issuer: saved.issuer,
          authorization_endpoint: saved.issuer,
          token_endpoint: saved.tokenEndpoint,
          response_types_supported: ["code"],
        },
        clientInformation: saved.client,
        refreshToken,
        resource: new URL(saved.resource),
        fetchFn: withinOrigin(this.#options.instance, SHORT, this.#options.reach),
      });
      const renewed = { ...ended, accessToken: tokens.access_token, ...expiry(tokens.expires_in, this.#now()) };
      store.write({ ...renewed, ...(tokens.refresh_token === undefined ? {} : { refreshToken: tokens.refresh_token }) });
    } catch (error) {
      if (!(error instanceof OAuthError) || !/^(invalid_grant|invalid_client|unauthorized_client)$/.test(error.code)) throw error;
      store.write(ended);
      throw this.#needed("the sign-in has ended, it needs another");
    }
  }

  connection(): ConnectionAuth {
    /** Which token an answer was given to: one that came late must not renew a token that is new already. */
    const sentWith = new WeakMap<Response, string>();
    return {
      fetch: async (url, init) => {
        const response = await this.#send(url, init);
        sentWith.set(response, authorizationOf(init).replace(/^bearer /i, ""));
        return response;
      },
      authProvider: {
        token: () => this.#token(),
        onUnauthorized: async ({ response }) => {
          const rejected = sentWith.get(response);
          if (rejected === undefined) throw new UnauthorizedError();
          await this.#renew(rejected);
        },
      },
    };
  }
}
