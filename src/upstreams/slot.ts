import { BridgeError } from "../errors.ts";
import { type Live, LoopError } from "./client.ts";
import { SignInNeeded } from "./oauth.ts";

const FIRST_WAIT = 250;
const LONGEST_WAIT = 30_000;
/** A connection that lasted this long (ms) was a good one. */
const YOUNG = 10_000;
/** A sign-in may come at any moment, and looking for it costs next to nothing (ms). */
const LOOK_AGAIN = 2_000;
/** A call waits this long for an upstream that is about to be tried again. */
const PATIENCE = 2_500;

export interface SlotOptions {
  readonly name: string;
  readonly dial: () => Promise<Live>;
  /** Closes a connection that nobody used for so long; 0 = never. */
  readonly idle: number;
  /** The words of a failure, without secrets. */
  readonly say: (error: unknown) => string;
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** One place for a connection: dialled when it is needed, by one at a time, and again when it is gone; less often while that fails. */
export class Slot {
  readonly #options: SlotOptions;
  #live: Live | undefined;
  #dialling: Promise<Live> | undefined;
  #failures = 0;
  #since = 0;
  #closedUntil = 0;
  #lastFailure = "";
  #using = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  /** Milliseconds until the next try is due. */
  get due(): number {
    return Math.max(0, this.#closedUntil - Date.now());
  }

  get lastFailure(): string {
    return this.#lastFailure;
  }

  #unavailable(): BridgeError {
    const { name } = this.#options;
    const seconds = Math.ceil(this.due / 1_000);
    return new BridgeError(
      "upstream_unavailable",
      `The server "${name}" cannot be reached: ${this.#lastFailure}.`,
      `Nothing was sent to it. Everything else works; try ${name} again ${seconds > 1 ? `in ${seconds} s` : "in a moment"}, or tell the user.`,
      seconds > 0 ? { retry_after: seconds } : {},
    );
  }

  #fail(least = 0): void {
    this.#failures++;
    const pause = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (this.#failures - 1));
    this.#closedUntil = Date.now() + Math.max(pause, least);
  }

  async #connect(): Promise<Live> {
    try {
      const live = await this.#options.dial();
      this.#closedUntil = 0;
      this.#since = Date.now();
      if (this.#ended) {
        await live.close();
        throw new Error("it was closed");
      }
      this.#live = live;
      void live.closed.then(() => this.drop(live));
      return live;
    } catch (error) {
      if (error instanceof SignInNeeded) this.#closedUntil = Date.now() + LOOK_AGAIN;
      else this.#fail(error instanceof LoopError ? LONGEST_WAIT : 0);
      this.#lastFailure = this.#options.say(error);
      throw this.#unavailable();
    } finally {
      this.#dialling = undefined;
    }
  }

  /** @throws BridgeError upstream_unavailable */
  async get(): Promise<Live> {
    if (this.#live && !this.#live.isClosed()) return this.#live;
    if (this.#dialling) return this.#dialling;
    if (this.due > PATIENCE) throw this.#unavailable();
    if (this.due > 0) {
      await wait(this.due);
      return this.get();
    }
    this.#dialling = this.#connect();
    return this.#dialling;
  }

  /** Runs on a live connection, which is not closed as idle meanwhile. */
  async use<T>(run: (live: Live) => Promise<T>): Promise<T> {
    clearTimeout(this.#idleTimer);
    this.#using++;
    try {
      return await run(await this.get());
    } finally {
      if (--this.#using === 0 && this.#options.idle > 0 && !this.#ended) {
        this.#idleTimer = setTimeout(() => void this.close(false), this.#options.idle);
        this.#idleTimer.unref();
      }
    }
  }

  /** The connection is of no use any more. */
  drop(live: Live): void {
    if (this.#live !== live) return;
    this.#live = undefined;
    // One that dies young counts as a failure: a server that ends again and again is not started again and again.
    if (Date.now() - this.#since >= YOUNG) this.#failures = 0;
    this.#fail();
    this.#lastFailure = "the connection ended";
    void live.close();
  }

  /** @param ended nobody will come again. */
  async close(ended = true): Promise<void> {
    this.#ended ||= ended;
    clearTimeout(this.#idleTimer);
    const live = this.#live;
    this.#live = undefined;
    await live?.close();
    if (ended) await this.#dialling?.catch(() => {});
  }
}
