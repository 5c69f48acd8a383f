import { afterAll, beforeAll, expect, it } from "vitest";
import {
  ACCEPT,
  type Crowd,
  call,
  handshake,
  markOf,
  modern,
  namesOf,
  post,
  type Rpc,
  type Started,
  startCrowd,
  startHttp,
  tokenOf,
} from "../support/http.ts";

/** Two thirds hold a session; the others come with each request anew. */
const PEOPLE = 300;
const KEY = "isolation".repeat(5);
const FLAGS = [`--session-key=${KEY}`, "--settle=0", "--concurrency=64"];
const LIST = { jsonrpc: "2.0", id: 7, method: "tools/list", params: {} };
const TOOLSETS = ["ci", "work_items", "repository", "merge_requests"];
const STYLES = ["bridge", "dynamic", "toolsets", "static"];

let crowd: Crowd;
let server: Started;
beforeAll(async () => {
  crowd = await startCrowd();
  server = await startHttp(FLAGS, { GITLAB_URL: crowd.url });
});
afterAll(async () => {
  await server.stop();
  await crowd.close();
});

/** One person with a choice of their own, and every byte that they were ever sent. */
class Person {
  readonly user: number;
  readonly isModern: boolean;
  readonly prefix: string;
  readonly query: string;
  readonly bytes: string[] = [];
  session: Readonly<Record<string, string>> = {};
  version = 1;

  constructor(user: number) {
    this.user = user;
    this.isModern = user % 3 === 0;
    this.prefix = `p${user}_`;
    const parts = [`prefix=${this.prefix}`, `style=${STYLES[user % STYLES.length]}`, `toolsets=${TOOLSETS[user % TOOLSETS.length]}`];
    this.query = `?${[...parts, ...(user % 2 === 0 ? ["readonly=1"] : []), `project=mine/${markOf(user)}`].join("&")}`;
  }

  get url(): string {
    return `${server.url}${this.query}`;
  }

  get token(): Readonly<Record<string, string>> {
    const value = tokenOf(this.user, this.version);
    return this.user % 5 === 0 ? { authorization: `Bearer ${value}` } : { "private-token": value };
  }

  async connect(): Promise<void> {
    if (this.isModern) return;
    const { answer, session } = await handshake(this.url, this.token);
    this.keep(answer);
    this.session = session;
  }

  keep(answer: Rpc): Rpc {
    this.bytes.push(JSON.stringify([...answer.headers]), answer.text);
    return answer;
  }

  async ask(method: "tools/list" | "tools/call", params: Record<string, unknown> = {}): Promise<Rpc> {
    if (this.isModern) {
      const { body, headers } = modern(method, params);
      return this.keep(await post(this.url, body, { ...this.token, ...headers }));
    }
    return this.keep(await post(this.url, { ...LIST, method, params }, { ...this.token, ...this.session }));
  }

  tool(name: string, args: Record<string, unknown> = {}): Promise<Rpc> {
    return this.ask("tools/call", { name: `${this.prefix}${name}`, arguments: args });
  }

  /** A call that the client does not wait for. */
  async drop(): Promise<void> {
    if (this.isModern) return;
    const gone = new AbortController();
    const body = JSON.stringify(call(`${this.prefix}gitlab_execute_action`, { action: "issue.list", params: {} }, "dropped"));
    const sent = fetch(this.url, { method: "POST", headers: { ...ACCEPT, ...this.token, ...this.session }, body, signal: gone.signal });
    setTimeout(() => gone.abort(), 1);
    await sent.then((response) => response.text()).catch(() => {});
  }
}

async function live(person: Person): Promise<void> {
  const first = namesOf(await person.ask("tools/list"));
  expect(first.every((name) => name.startsWith(person.prefix))).toBe(true);
  const results = [
    await person.tool("gitlab_find_action", { query: "list issues" }),
    await person.tool("gitlab_execute_action", { action: "issue.list", params: {} }),
    await person.tool("enable_toolset", { toolset: "wikis" }),
  ];
  if (person.user % 7 === 0) person.version++;
  if (person.user % 4 === 1) await person.drop();
  results.push(await person.tool("list_issues", { project_id: "a/b" }));
  const write = await person.tool("gitlab_execute_action", { action: "issue.create", params: { project_id: "a/b", title: "t" } });
  const refused = write.messages.at(-1)?.result?.structuredContent as { rule?: string } | undefined;
  expect([person.user, refused?.rule]).toEqual([person.user, person.user % 2 === 0 ? "read_only" : undefined]);
  for (const [index, { text }] of results.entries())
    if (index % 2 === 1) expect([person.user, text.includes(markOf(person.user))]).toEqual([person.user, true]);
  const after = namesOf(await person.ask("tools/list"));
  const switched = after.includes(`${person.prefix}list_project_wiki_pages`) || after.length > first.length;
  expect([person.user, switched]).toEqual([person.user, !person.isModern]);
}

/** All sessions are open at once; so many people do something at the same moment. */
const AT_ONCE = 6;

async function each(people: readonly Person[], what: (person: Person) => Promise<void>): Promise<void> {
  const waiting = [...people];
  const worker = async () => {
    for (let person = waiting.shift(); person; person = waiting.shift()) await what(person);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Whose marks, prefixes, tokens and user names stand in the text. */
function owners(text: string): Set<number> {
  const found = [/marked-for-user-(\d+)\./g, /\bp(\d+)_[a-z]/g, /token-(\d+)-v/g, /user-(\d+)\b/g];
  return new Set(found.flatMap((form) => [...text.matchAll(form)].map((match) => Number(match[1]))));
}

it("200 sessions at once and 100 people without one, refreshing tokens, dropping connections and meeting a restart: nobody is sent a byte of another's", async () => {
  const people = Array.from({ length: PEOPLE }, (_, index) => new Person(index + 1));
  await each(people, (person) => person.connect());
  await each(people, live);
  expect(server.held().sessions).toBe(200);
  const { port } = server;
  await server.stop();
  server = await startHttp([...FLAGS, `--port=${port}`], { GITLAB_URL: crowd.url });
  await expect
    .poll(() =>
      fetch(new URL("/healthz", server.url)).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  await each(people, live);
  for (const person of people) {
    const text = person.bytes.join("\n");
    expect([person.user, ...owners(text)]).toEqual([person.user, person.user]);
    expect(text).not.toContain(tokenOf(person.user));
  }
  expect(server.logged.join("\n")).not.toMatch(/token-\d+-v/);
}, 300_000);
