import { BridgeError } from "../errors.ts";
import { toWords } from "./error-words.ts";
import { toGitLabError } from "./gitlab-errors.ts";
import { isPlain } from "./slim.ts";
import { nameOf, type Target } from "./target.ts";

type Owner = "caller" | "server" | "visitor" | "nobody";
type Plain = Readonly<Record<string, unknown>>;

const wordsOf = (errors: unknown): string | undefined =>
  Array.isArray(errors) && errors.length > 0
    ? toWords(errors.map((one) => (isPlain(one) && one.message !== undefined ? String(one.message) : String(one))).join("; ")).text
    : undefined;

/** The words of a mutation that GitLab understood and did not do. */
function payloadWords(body: Plain): string | undefined {
  const payloads = isPlain(body.data) ? Object.values(body.data).filter(isPlain) : [];
  const told = payloads.map(({ errors }) => wordsOf(errors)).filter((words) => words !== undefined);
  return told.length > 0 ? told.join("; ") : undefined;
}

const ABSENT = /not exist or you don't have permission|could not be found|couldn't find|not found/i;
const FORBIDDEN = /insufficient (permissions|scope)|access denied|unauthorized|forbidden|not allowed to/i;
const COMPLEX = /complexity of \d+, which exceeds|exceeds max (query )?complexity/i;
const UNKNOWN =
  /doesn't exist on type|isn't a defined input type|doesn't accept argument|is not defined|undefined (field|type)|argument '?\w+'? on inputobject/i;
const SLOW = /timeout|took too long/i;

const answer = (status: number, words: string, target: Target, owner: Owner) =>
  toGitLabError({ status, headers: {}, body: { message: words } }, target, owner);

function tooComplex(words: string, target: Target): BridgeError {
  const says = `${nameOf(target)}: GitLab finds the question too large: "${words}".`;
  return new BridgeError("too_large", says, "Ask for fewer rows at once: limit: 20 or less, then go on with page.next.", { status: 200 });
}

function tooOld(words: string, target: Target): BridgeError {
  const since = target.since ? ` It came with GitLab ${target.since}.` : "";
  const hint = `This GitLab's version or edition does not have it.${since} Tell the user; another spelling will not help.`;
  return new BridgeError("unprocessable", `${nameOf(target)}: GitLab does not know what it is asked: "${words}".`, hint, { status: 200 });
}

/** GraphQL fails inside HTTP 200; this is what the words mean. */
function toError(words: string, target: Target, owner: Owner): BridgeError {
  if (COMPLEX.test(words)) return tooComplex(words, target);
  if (UNKNOWN.test(words)) return tooOld(words, target);
  if (ABSENT.test(words)) return answer(404, words, target, owner);
  if (FORBIDDEN.test(words)) return answer(403, words, target, owner);
  if (SLOW.test(words) && target.effect === "read") return answer(503, words, target, owner);
  const text = toWords({ message: words }).text;
  const hint = "Nothing was changed. Correct what it names and call again.";
  return new BridgeError("unprocessable", `${nameOf(target)}: GitLab refused it: "${text}".`, hint, { status: 200 });
}

/**
 * `errors` beside the data, or in the payload of a mutation.
 * @throws BridgeError for either.
 */
export function refuseFailures(body: Plain, target: Target, owner: Owner): void {
  const words = wordsOf(body.errors) ?? payloadWords(body);
  if (words !== undefined) throw toError(words, target, owner);
}

/** GitLab answers `null` for what does not exist or may not be seen. */
export const absent = (target: Target, owner: Owner): BridgeError => answer(404, "nothing of that id or path", target, owner);
