import { randomBytes } from "node:crypto";
import { constants, openAsBlob } from "node:fs";
import { type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Call, CallContext, Outcome, Progress } from "../catalog/types.ts";
import { BridgeError } from "../errors.ts";
import type { Intake } from "./intake.ts";
import type { Reply } from "./requester.ts";

const SETTING = "--files-dir";

/** A plain name of one file: nothing that could lead elsewhere, and no hidden file. */
const NAME = /^(?![.\s])[^/\\\p{Cc}:]{1,200}(?<!\s)$/u;

const NAMED = /^file:(?!\/)(\S[^\n]{0,300})$/;

const errorCode = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "unknown");

function refuse(field: string, why: string, hint: string, cause?: unknown): never {
  throw new BridgeError("invalid_params", `${field}: ${why}`, `Nothing was sent. ${hint}`, { fields: { [field]: why } }, cause);
}

/** @throws BridgeError where the operator allowed no directory, or the name is not one of a file right in it. */
function placeOf(directory: string | undefined, field: string, name: string): string {
  if (directory === undefined)
    throw new BridgeError(
      "not_permitted",
      `${field}: this server keeps no files.`,
      `Nothing was sent. Leave ${field} out: small files travel in the message as base64. Only whoever runs the server can allow a directory.`,
      { rule: "files", setting: SETTING },
    );
  if (!NAME.test(name))
    refuse(field, `"${name.slice(0, 80)}" is not a plain file name`, `Give a name without folders; the file lies in ${directory}.`);
  return join(directory, name);
}

/** The name in `file:NAME`. */
export const uploadName = (value: unknown): string | undefined => (typeof value === "string" ? NAMED.exec(value)?.[1] : undefined);

/** Tells how much is done, not more often than every so many bytes. */
const STEP = 1_048_576;

function teller(progress: ((progress: Progress) => void) | undefined, name: string) {
  let told = 0;
  return (done: number, total: number | undefined, last = false): void => {
    if (!last && done - told < STEP) return;
    told = done;
    progress?.({ progress: done, ...(total === undefined ? {} : { total }), message: name });
  };
}

/** The same file, and how much of it went out is told; nothing of it is held. */
function counted(blob: Blob, name: string, progress: CallContext["progress"]): File {
  const file = new File([blob], name, { type: blob.type });
  const tell = teller(progress, name);
  const stream = () => {
    let done = 0;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, out) {
        done += chunk.byteLength;
        tell(done, blob.size, done === blob.size);
        out.enqueue(chunk);
      },
    });
    return blob.stream().pipeThrough(counter);
  };
  // What sends a body reads it by this one method.
  return progress ? Object.defineProperty(file, "stream", { value: stream }) : file;
}

async function openUpload(path: string, field: string, name: string, progress: CallContext["progress"]): Promise<File> {
  const found = await lstat(path).catch((error: unknown) =>
    refuse(field, `${path} cannot be read (${errorCode(error)})`, "Check the name.", error),
  );
  if (!found.isFile()) refuse(field, `${path} is not a file`, "Links and folders are not followed.");
  return counted(await openAsBlob(path, { type: "application/octet-stream" }), name, progress);
}

/** The files that a call names by `file:NAME`, read while they are sent. */
export async function openUploads(
  { action, params }: Call,
  directory: string | undefined,
  progress: CallContext["progress"],
): Promise<ReadonlyMap<string, File>> {
  const files = new Map<string, File>();
  for (const [field, param] of Object.entries(action.params)) {
    const name = param.format === "binary" ? uploadName(params[field]) : undefined;
    if (name !== undefined) files.set(field, await openUpload(placeOf(directory, field, name), field, name, progress));
  }
  return files;
}

/** A file that a download is written to: under a name of its own until it is whole. */
interface Target {
  readonly path: string;
  readonly intake: Intake;
  size(): number;
  /** @throws BridgeError where the name was taken meanwhile. */
  finish(): Promise<void>;
  drop(): Promise<void>;
}

async function openTarget(path: string, name: string, overwrite: boolean, progress: CallContext["progress"]): Promise<Target> {
  // Without leave to overwrite the name itself is taken before anything is asked for.
  const own = overwrite ? join(path, "..", `.${name}.${randomBytes(6).toString("hex")}`) : path;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const file: FileHandle = await open(own, flags, 0o600).catch((error: unknown) => {
    if (errorCode(error) === "EEXIST") refuse("save_as", `${name} is there already`, "Give another name, or overwrite: true.", error);
    return refuse("save_as", `${path} cannot be written (${errorCode(error)})`, `Whoever runs the server must check ${SETTING}.`, error);
  });
  const tell = teller(progress, name);
  let done = 0;
  let total: number | undefined;
  const intake: Intake = {
    patient: true,
    async begin({ headers }) {
      await file.truncate(0);
      done = 0;
      const length = Number(headers.get("content-length") ?? Number.NaN);
      total = Number.isFinite(length) && !headers.has("content-encoding") ? length : undefined;
    },
    async take(chunk) {
      await file.write(chunk, 0, chunk.byteLength, done);
      done += chunk.byteLength;
      tell(done, total);
      return true;
    },
    end: () => ({ bytes: new Uint8Array() }),
  };
  return {
    path,
    intake,
    size: () => done,
    async finish() {
      await file.close();
      if (overwrite) await rename(own, path);
      tell(done, done, true);
    },
    async drop() {
      await file.close().catch(() => undefined);
      await unlink(own).catch(() => undefined);
    },
  };
}

/** A download into the operator's directory instead of the answer: whole, or not there at all. */
export async function saveDownload(
  call: Call,
  context: CallContext,
  directory: string | undefined,
  get: (intake: Intake) => Promise<Reply>,
): Promise<Outcome> {
  const name = call.wanted.save_as ?? "";
  const target = await openTarget(placeOf(directory, "save_as", name), name, call.wanted.overwrite === true, context.progress);
  try {
    const { headers } = await get(target.intake);
    await target.finish();
    const mime = headers["content-type"]?.split(";")[0]?.trim();
    const project = call.params.project_id;
    return {
      kind: "value",
      value: { saved_as: name, path: target.path, bytes: target.size(), ...(mime ? { mime } : {}) },
      ...(project === undefined ? {} : { project: String(project) }),
    };
  } catch (error) {
    await target.drop();
    throw error;
  }
}
