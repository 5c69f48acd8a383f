import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import { toHttpSettings } from "../../src/config/http-check.ts";
import { takeEnd, takeStart } from "../../src/executor/intake.ts";
import {
  API,
  answers,
  callOf,
  contextOf,
  failureOf,
  json,
  sent,
  server,
  settingsOf,
  sourceOf,
  textIn,
  useNetwork,
  valueIn,
} from "./gitlab-fixture.ts";

useNetwork();

const folder = () => mkdtempSync(join(tmpdir(), "bridge-files-"));
const ARTIFACTS = `${API}/projects/1/jobs/2/artifacts`;
const zip = new Uint8Array(3_500_000).map((_, index) => index % 251);
const give = (bytes = zip, headers: Record<string, string> = {}) =>
  answers("get", ARTIFACTS, () => new HttpResponse(bytes, { headers: { "content-type": "application/zip", ...headers } }));
const download = (wanted: Record<string, unknown>) => callOf("job.artifacts_download", { project_id: "1", job_id: 2 }, wanted);

describe("a download to the operator's directory", () => {
  it("is there to the byte, for the owner alone, with its progress told", async () => {
    give(zip, { "content-length": String(zip.length) });
    const filesDir = folder();
    const told: unknown[] = [];
    const context = contextOf({ progress: (step) => told.push(step) });
    const value = valueIn(await sourceOf({ filesDir }).run(download({ save_as: "build.zip" }), context));
    expect(value).toEqual({ saved_as: "build.zip", path: join(filesDir, "build.zip"), bytes: zip.length, mime: "application/zip" });
    expect(Buffer.compare(readFileSync(join(filesDir, "build.zip")), zip)).toBe(0);
    expect(statSync(join(filesDir, "build.zip")).mode & 0o777).toBe(0o600);
    expect(told.at(-1)).toEqual({ progress: zip.length, total: zip.length, message: "build.zip" });
    expect(told.length).toBeLessThan(6);
  });

  it("replaces nothing unless that is said", async () => {
    give();
    const filesDir = folder();
    writeFileSync(join(filesDir, "a.zip"), "mine");
    const error = await failureOf(sourceOf({ filesDir }).run(download({ save_as: "a.zip" }), contextOf()));
    expect([error.code, error.hint, sent.length]).toEqual(["invalid_params", expect.stringContaining("overwrite: true"), 0]);
    expect(readFileSync(join(filesDir, "a.zip"), "utf8")).toBe("mine");
    await sourceOf({ filesDir }).run(download({ save_as: "a.zip", overwrite: true }), contextOf());
    expect(statSync(join(filesDir, "a.zip")).size).toBe(zip.length);
    expect(readdirSync(filesDir)).toEqual(["a.zip"]);
  });

  it("does not follow a link out of it", async () => {
    give();
    const [filesDir, other] = [folder(), folder()];
    writeFileSync(join(other, "target"), "theirs");
    symlinkSync(join(other, "target"), join(filesDir, "a.zip"));
    await failureOf(sourceOf({ filesDir }).run(download({ save_as: "a.zip" }), contextOf()));
    await sourceOf({ filesDir }).run(download({ save_as: "a.zip", overwrite: true }), contextOf());
    expect(readFileSync(join(other, "target"), "utf8")).toBe("theirs");
  });

  it.each(["../x", "a/b", "/etc/x", "..", ".", ".hidden", "a\\b", "a\0b", "", " ", "c:x", "x ", "n\nm"])(
    "refuses the name %j, with nothing sent",
    async (name) => {
      const filesDir = folder();
      const error = await failureOf(sourceOf({ filesDir }).run(download({ save_as: name }), contextOf()));
      expect([error.code, error.detail.fields, sent.length]).toEqual(["invalid_params", { save_as: expect.any(String) }, 0]);
      expect(readdirSync(filesDir)).toEqual([]);
    },
  );

  it.each([false, true])("leaves nothing behind where GitLab refuses or breaks off (overwrite: %s)", async (overwrite) => {
    const filesDir = folder();
    const broken = () => new HttpResponse(new ReadableStream({ start: (stream) => stream.error(new Error("reset")) }), { status: 200 });
    for (const answer of [() => json({ message: "404 Not Found" }, { status: 404 }), broken]) {
      answers("get", ARTIFACTS, answer);
      await failureOf(sourceOf({ filesDir, retries: 0 }).run(download({ save_as: "a.zip", overwrite }), contextOf()));
      expect(readdirSync(filesDir)).toEqual([]);
    }
  });

  it("begins anew where a try broke off", async () => {
    const filesDir = folder();
    let tries = 0;
    const half = new ReadableStream({
      pull(stream) {
        if (tries++ === 0) stream.enqueue(zip.slice(0, 2_000_000));
        else stream.error(new Error("reset"));
      },
    });
    answers(
      "get",
      ARTIFACTS,
      () => new HttpResponse(half),
      () => new HttpResponse(zip.slice(0, 1_000)),
    );
    await sourceOf({ filesDir }).run(download({ save_as: "a.zip" }), contextOf());
    expect(statSync(join(filesDir, "a.zip")).size).toBe(1_000);
    expect(sent).toHaveLength(2);
  });

  it("without the setting is refused, with the setting's name and nothing sent", async () => {
    const error = await failureOf(sourceOf().run(download({ save_as: "a.zip" }), contextOf()));
    expect([error.code, error.detail.setting, sent.length]).toEqual(["not_permitted", "--files-dir", 0]);
  });

  it("is what a file too large for a message is told", async () => {
    give();
    const error = await failureOf(sourceOf().run(download({}), contextOf()));
    expect([error.code, error.hint]).toEqual(["too_large", expect.stringContaining("save_as")]);
  });

  it("is not for HTTP: the start is refused", () => {
    expect(() => toHttpSettings(settingsOf({ http: true, filesDir: "/tmp" }))).toThrow(/--files-dir/);
  });
});

describe("an upload from it", () => {
  const upload = (file: string) => callOf("upload.create", { project_id: "1", file }, { full: true });
  const echo = () =>
    server.use(
      http.post(`${API}/projects/1/uploads`, async ({ request }) => {
        const file = (await request.formData()).get("file") as File;
        return json({ id: 3, alt: `${file.name} ${file.size}` }, { status: 201 });
      }),
    );

  it("is named file:NAME", async () => {
    echo();
    const filesDir = folder();
    writeFileSync(join(filesDir, "big.bin"), zip);
    expect(valueIn(await sourceOf({ filesDir }).run(upload("file:big.bin"), contextOf())).alt).toBe(`big.bin ${zip.length}`);
  });

  it.each([
    ["a form", "upload.create", { project_id: "1" }],
    ["bare bytes", "generic_package.file_upload", { project_id: "1", package_name: "t", package_version: "1.0", file_name: "big.bin" }],
  ])("sent as %s tells how much of it went out, whole at the end", async (_form, id, params) => {
    const sizes: number[] = [];
    const take = async ({ request }: { request: Request }) => {
      sizes.push((await request.arrayBuffer()).byteLength);
      return json({ id: 3, alt: "", message: "201 Created" }, { status: 201 });
    };
    server.use(http.post(`${API}/projects/1/uploads`, take), http.put(`${API}/projects/1/packages/generic/t/1.0/big.bin`, take));
    const filesDir = folder();
    const size = 3 * 1_048_576 + 17;
    writeFileSync(join(filesDir, "big.bin"), Buffer.alloc(size, 7));
    const told: unknown[] = [];
    const context = { ...contextOf(), progress: (progress: unknown) => void told.push(progress) };
    await sourceOf({ filesDir }).run(callOf(id, { ...params, file: "file:big.bin" }, { full: true }), context);
    expect(sizes[0]).toBeGreaterThanOrEqual(size);
    expect(told.length).toBeGreaterThan(2);
    expect(told.length).toBeLessThan(6);
    expect(told.at(-1)).toEqual({ progress: size, total: size, message: "big.bin" });
  });

  it.each(["file:../x", "file:a/b", "file:none", "file:.ssh", "file:folder", "file:link"])(
    "refuses %s, with nothing sent",
    async (file) => {
      const filesDir = folder();
      mkdirSync(join(filesDir, "folder"));
      symlinkSync("/etc/hostname", join(filesDir, "link"));
      const error = await failureOf(sourceOf({ filesDir }).run(upload(file), contextOf()));
      expect([error.code, error.detail.fields, sent.length]).toEqual(["invalid_params", { file: expect.any(String) }, 0]);
    },
  );

  it("without the setting is refused; text that is no such name is still a text", async () => {
    echo();
    const error = await failureOf(sourceOf().run(upload("file:big.bin"), contextOf()));
    expect([error.code, error.detail.setting, sent.length]).toEqual(["not_permitted", "--files-dir", 0]);
    expect(valueIn(await sourceOf().run(upload("file: two\nlines"), contextOf())).alt).toBe("file.txt 15");
  });

  it("is only named in a preview", async () => {
    const preview = await sourceOf({ filesDir: folder() }).preview(upload("file:big.bin"), contextOf());
    expect(preview.body).toEqual({ file: "file big.bin" });
  });

  it("of a generic package goes out as bare bytes, the rest in the query", async () => {
    const seen: string[] = [];
    server.use(
      http.put(`${API}/projects/1/packages/generic/tool/1.0/a.bin`, async ({ request }) => {
        seen.push(new URL(request.url).search, request.headers.get("content-type") ?? "", await request.text());
        return json({ message: "201 Created" }, { status: 201 });
      }),
    );
    const filesDir = folder();
    writeFileSync(join(filesDir, "a.bin"), "the bytes");
    const params = { project_id: "1", package_name: "tool", package_version: "1.0", file_name: "a.bin", status: "hidden" };
    await sourceOf({ filesDir }).run(callOf("generic_package.file_upload", { ...params, file: "file:a.bin" }), contextOf());
    expect(seen).toEqual(["?status=hidden", "application/octet-stream", "the bytes"]);
  });
});

describe("a text larger than memory is given to", () => {
  const chunks = (count: number, size: number) => Array.from({ length: count }, (_, index) => Buffer.alloc(size, 65 + (index % 26)));
  const feed = async (intake: ReturnType<typeof takeEnd>, parts: readonly Buffer[]) => {
    await intake.begin(new Response());
    for (const part of parts) if (!(await intake.take(part))) break;
    return intake.end();
  };

  it.each([1, 7, 10, 64])("keeps its end to the byte, whatever the chunks (%i)", async (size) => {
    const parts = chunks(30, size);
    const whole = Buffer.concat(parts);
    const { bytes, kept } = await feed(takeEnd(25), parts);
    expect(Buffer.from(bytes).toString()).toBe(whole.subarray(Math.max(0, whole.length - 25)).toString());
    expect(kept).toBe("end");
  });

  it("keeps its start and waits for no more", async () => {
    let taken = 0;
    const parts = chunks(30, 10);
    const intake = takeStart(25);
    await intake.begin(new Response());
    for (const part of parts) {
      taken++;
      if (!(await intake.take(part))) break;
    }
    expect([Buffer.from(intake.end().bytes).toString(), intake.end().kept, taken]).toEqual([
      Buffer.concat(parts).subarray(0, 25).toString(),
      "start",
      3,
    ]);
  });

  it("is all there where it fits", async () => {
    for (const intake of [takeEnd(100), takeStart(100)]) expect(await feed(intake, chunks(10, 10))).toEqual({ bytes: expect.any(Buffer) });
  });

  it("a job log of 40 MB is read from its end, or from its start where that is asked for", async () => {
    const line = `${"x".repeat(1_023)}\n`;
    const block = Buffer.from(line.repeat(1_024));
    const log = () => {
      let blocks = 0;
      return new HttpResponse(
        new ReadableStream({
          pull(stream) {
            if (blocks < 40) stream.enqueue(block);
            else {
              stream.enqueue(Buffer.from("ERROR: Job failed: exit code 1\n"));
              stream.close();
            }
            blocks++;
          },
        }),
        { headers: { "content-type": "text/plain" } },
      );
    };
    answers("get", `${API}/projects/1/jobs/5/trace`, log);
    const read = async (wanted: Record<string, unknown>) =>
      textIn(await sourceOf().run(callOf("job.log_get", { project_id: "1", job_id: 5 }, wanted), contextOf()));
    const end = await read({ tail: 1 });
    expect([end.text, end.truncated]).toEqual(["ERROR: Job failed: exit code 1", expect.stringContaining("only its end was read")]);
    const start = await read({ head: 1 });
    expect([start.text.length, start.truncated]).toEqual([1_023, expect.stringContaining("only its start was read")]);
  }, 30_000);
});
