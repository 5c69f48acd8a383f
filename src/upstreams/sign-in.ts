import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  auth,
  type FetchLike,
  IssuerMismatchError,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  OAuthError,
  RegistrationRejectedError,
} from "@modelcontextprotocol/client";
import { BridgeError } from "../errors.ts";
import { expiry, SHORT, withinOrigin } from "./oauth.ts";
import type { SignInStore } from "./oauth-store.ts";

export interface SignInOptions {
  /** Root of the GitLab to sign in at. */
  readonly instance: string;
  /** Its MCP server: what the token is for. */
  readonly resource: string;
  readonly store: SignInStore;
  /** How the instance is reached, where that is not plainly. */
  readonly reach?: FetchLike | undefined;
  /** Shows the address that the user opens in a browser. */
  readonly show: (address: string) => void;
  /** How long the user may take (ms). */
  readonly patience?: number;
  /** Where the browser comes back to, on 127.0.0.1; 0 = any that is free. */
  readonly port?: number;
  readonly now?: () => number;
}

const SCOPE = "mcp";
const PATIENCE = 5 * 60_000;
const DONE = "Signed in. You can close this page and go back to the terminal.";
const REFUSED = "This is not the sign-in that was begun here. Go back to the terminal.";
const DENIED = "Nothing was allowed. You can close this page.";

const failed = (message: string, hint = "Run the command again.", cause?: unknown) =>
  new BridgeError("unauthenticated", `Not signed in: ${message}.`, hint, {}, cause);

/** What the browser brings back. */
interface Door {
  readonly redirect: string;
  /** The query of the first visit that has this state; every other visit is turned away. */
  wait(state: string, patience: number): Promise<URLSearchParams>;
  close(): Promise<void>;
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one.padEnd(64)), Buffer.from(other.padEnd(64)));

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        failed(
          error.code === "EADDRINUSE" ? `port ${port} is taken` : `port ${port} cannot be used`,
          "Choose another --callback-port.",
          error,
        ),
      ),
    );
    server.listen(port, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** A page on this machine, and on no other, for the browser to come back to. */
async function openDoor(wanted: number): Promise<Door> {
  let expected: string | undefined;
  let arrived: (query: URLSearchParams) => void = () => {};
  const server = createServer((request, response) => {
    const say = (status: number, text: string) =>
      response
        .writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close", "referrer-policy": "no-referrer" })
        .end(text);
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    if (request.method !== "GET" || pathname !== "/callback") return say(404, REFUSED);
    if (expected === undefined || !isSame(searchParams.get("state") ?? "", expected)) return say(400, REFUSED);
    expected = undefined;
    say(200, searchParams.has("code") ? DONE : DENIED);
    return arrived(searchParams);
  });
  const port = await listen(server, wanted);
  return {
    redirect: `http://127.0.0.1:${port}/callback`,
    wait(state, patience) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(failed(`nobody came back from the browser within ${Math.round(patience / 1_000)} s`)),
          patience,
        );
        arrived = (query) => {
          clearTimeout(timer);
          resolve(query);
        };
        expected = state;
      });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

interface Flow {
  readonly provider: OAuthClientProvider;
  readonly state: string;
  address(): string;
}

/** One sign-in from its begin to its end. Each registers a client of its own: GitLab may have dropped an older one. */
function begin({ resource, instance, store, now = Date.now }: SignInOptions, redirect: string): Flow {
  const state = randomBytes(32).toString("base64url");
  let verifier = "";
  let address: URL | undefined;
  let client: { client_id: string } | undefined;
  let discovery: OAuthDiscoveryState | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: redirect,
    clientMetadata: {
      client_name: "gitlab-toolset-bridge",
      redirect_uris: [redirect],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "native",
      scope: SCOPE,
    },
    state: () => state,
    clientInformation: () => client,
    saveClientInformation: (value) => {
      client = value;
    },
    tokens: () => undefined,
    saveTokens: (tokens, context) => {
      const { access_token: accessToken, refresh_token: refreshToken, expires_in } = tokens;
      const issuer = context?.issuer ?? "";
      const tokenEndpoint = discovery?.authorizationServerMetadata?.token_endpoint ?? new URL("/token", issuer).href;
      if (!client) throw new Error("no client was registered");
      const saved = { resource, issuer, tokenEndpoint, client, accessToken, ...expiry(expires_in, now()) };
      store.write({ ...saved, ...(refreshToken === undefined ? {} : { refreshToken }) });
    },
    redirectToAuthorization: (to) => {
      if (to.origin !== new URL(instance).origin) throw new Error(`${to.origin} is not ${new URL(instance).origin}`);
      address = to;
    },
    saveCodeVerifier: (value) => {
      verifier = value;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (value) => {
      discovery = value;
    },
    discoveryState: () => discovery,
    // The token is for this MCP server, whatever its metadata say.
    validateResourceURL: async (_server, told) => {
      if (told !== undefined && told !== resource) throw new Error(`${told} is not ${resource}`);
      return new URL(resource);
    },
  };
  return { provider, state, address: () => address?.href ?? "" };
}

function sayShort(error: unknown): string {
  if (error instanceof RegistrationRejectedError) return `it registers no clients, HTTP ${error.status}`;
  if (error instanceof OAuthError) return /^[a-z_]{1,40}$/.test(error.code) ? error.code : "an error of OAuth";
  return error instanceof Error ? (error.message.split("\n")[0] ?? "").slice(0, 200) : "no reason";
}

/** Failures in words of our own: what a foreign server wrote into them is not shown. */
function toFailure(error: unknown, instance: string): BridgeError {
  if (error instanceof BridgeError) return error;
  if (error instanceof IssuerMismatchError)
    return failed(`what answers at ${instance} says that it is somebody else`, "Do not go on; tell whoever runs that GitLab.", error);
  const said = sayShort(error);
  return failed(
    `${instance} did not go along (${said})`,
    "It needs a GitLab whose MCP server and dynamic client registration are switched on.",
    error,
  );
}

/**
 * Signs the user in at a GitLab for its MCP server: discovery, registration, a browser, PKCE. What comes of it goes into the store.
 * @throws BridgeError unauthenticated, with what went wrong.
 */
export async function signIn(options: SignInOptions): Promise<void> {
  const { instance, resource, show, patience = PATIENCE, port = 0 } = options;
  const fetchFn = withinOrigin(instance, SHORT, options.reach);
  const door = await openDoor(port);
  try {
    const { provider, state, address } = begin(options, door.redirect);
    await auth(provider, { serverUrl: resource, scope: SCOPE, fetchFn });
    const arrival = door.wait(state, patience);
    show(address());
    const query = await arrival;
    const code = query.get("code");
    if (code === null) throw failed("the access was not allowed in the browser", "Run the command again where that was a mistake.");
    const iss = query.get("iss");
    await auth(provider, { serverUrl: resource, scope: SCOPE, fetchFn, authorizationCode: code, ...(iss === null ? {} : { iss }) });
  } catch (error) {
    throw toFailure(error, instance);
  } finally {
    await door.close();
  }
}
