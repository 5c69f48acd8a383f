import type { Driver, DriverContext, Host, Task } from "../types.ts";
import { toAnswer } from "./heuristic-answer.ts";
import { type Choice, choose } from "./heuristic-choose.ts";
import { discover, offersNow, withParams } from "./heuristic-discover.ts";
import { fill } from "./heuristic-fill.ts";
import { type Intent, intentsOf, refersBack } from "./heuristic-intents.ts";
import { nounOf } from "./heuristic-memory.ts";
import { mend } from "./heuristic-mend.ts";
import type { Offer, Param } from "./heuristic-offers.ts";
import type { Scene } from "./heuristic-scores.ts";
import { learn, openSession, type Session, SPENT, toScene } from "./heuristic-session.ts";

/** Below this share of the request's words, what is at hand is not taken without looking for something better. */
const ENOUGH = 0.5;

/** So many offers are looked into before one is taken. */
const LOOKS = 3;

/** The best of these, once its parameters are known: what they want may speak against it. */
async function best(
  session: Session,
  scene: Scene,
  offers: () => readonly Offer[],
  ranked: boolean,
  suits: Suits,
): Promise<Choice | undefined> {
  let choice = choose(offers(), scene, session.seed, ranked).find(suits);
  for (let look = 0; look < LOOKS && choice && choice.offer.params === undefined; look++) {
    await withParams(session, choice.offer);
    choice = choose(offers(), scene, session.seed, ranked).find(suits);
  }
  return choice;
}

type Suits = (choice: Choice) => boolean;

/** Holds enough of the request's words, has a place for every number in it, and can be called. */
function isEnough({ cover, filled: { missing, used } }: Choice, { mentions, intent }: Scene): boolean {
  const numbers = mentions.filter(({ kind, at }) => kind === "number" && at >= intent.from && at < intent.to);
  return cover >= ENOUGH && missing.length === 0 && numbers.every(({ at }) => used.has(at));
}

/** The best of what is at hand, or of what a look around finds where that is not like the request. */
async function find(session: Session, scene: Scene, suits: Suits = () => true): Promise<Choice | undefined> {
  const atHand = () => best(session, scene, () => offersNow(session), false, suits);
  const hand = await atHand();
  if (hand && isEnough(hand, scene)) return hand;
  const { offers, ranked } = await discover(session, scene);
  const now = () => offers.map((offer) => session.learned.get(offer.name) ?? offer);
  return (offers.length > 0 ? await best(session, scene, now, ranked, suits) : undefined) ?? (await atHand());
}

const wantsSame = ({ offer }: Choice, param: Param): boolean =>
  offer.params?.some(({ name, required }) => required && name === param.name) === true;

/** Looks up what fills a parameter: a list of the things that it names. */
async function lookUp(session: Session, offer: Offer, param: Param, scene: Scene): Promise<void> {
  const noun = nounOf(param.name).length > 0 ? param.name.replace(/_?i?ids?$/, "") : offer.title || offer.name;
  const text = `list ${noun.replaceAll(/[_.]/g, " ")}s`;
  const intent: Intent = { ...scene.intent, core: text, text, kind: "read" };
  const sub = toScene(session, intent);
  const choice = await find(session, sub, (one) => one.filled.missing.length === 0 && !wantsSame(one, param));
  if (!choice) return;
  const ready = await withParams(session, choice.offer);
  const { args, missing } = fill(ready, sub);
  if (missing.length > 0) return;
  learn(session, await session.send(ready.toCall(args)), ready);
}

/** What can stand in an earlier result: numbers and names of things, not texts that somebody has to write. */
const canLookUp = ({ type, item, values }: Param): boolean =>
  values === undefined && [type, item].some((one) => one === "integer" || one === "number" || one === "string");

/** So many things are looked up for one request. */
const LOOK_UPS = 2;

async function act(session: Session, intent: Intent, before: string | undefined): Promise<void> {
  const choice = await find(session, toScene(session, intent, before));
  if (!choice) return;
  const offer = await withParams(session, choice.offer);
  let scene = toScene(session, intent, before);
  let { args, missing } = fill(offer, scene);
  for (const param of missing.filter(canLookUp).slice(0, LOOK_UPS)) await lookUp(session, offer, param, scene);
  if (missing.length > 0) {
    scene = toScene(session, intent, before);
    ({ args, missing } = fill(offer, scene));
  }
  if (missing.length > 0 && offer.params !== undefined) return;
  const seen = await session.send(offer.toCall(args));
  learn(session, seen, offer);
  const again = seen.isError ? mend(offer, args, seen, scene) : undefined;
  if (again) learn(session, await session.send(again.offer.toCall(again.args)), again.offer);
}

async function pursue(task: Task, host: Host, context: DriverContext): Promise<void> {
  const session = openSession(task.prompt, host, context);
  let before: string | undefined;
  try {
    for (const intent of intentsOf(task.prompt)) {
      await act(session, intent, refersBack(intent.core) ? before : undefined);
      before = intent.text;
    }
  } catch (error) {
    if (error !== SPENT) throw error;
  }
  host.answer(toAnswer(task.prompt, session.results));
}

/**
 * A driver without a model. It sees what a model would see (the list, the prompt, results), and knows no server: which tools help to find
 * others it tells by their texts and schemas (`rolesOf`), what is most like the request by BM25 (`choose`), and what the parameters are by
 * the form of the values in the prompt and by earlier results (`fill`). For every arm the same rules; the seed only breaks ties.
 *
 * For each request of the prompt, in order: take what is at hand if it holds enough of the request's words and can be called; else search or
 * open a group; look up what is missing; call; after an error, one more try. The answer is an extract of the last results.
 */
export function createHeuristic(): Driver {
  return { name: "heuristic", run: pursue };
}
