import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { upstreamsJsonSchema } from "../upstreams/config.ts";
import { errorsPage } from "./errors-page.ts";
import { generateDocs, spliceReadme } from "./reference.ts";
import { generateSchemas } from "./schemas.ts";

/** Files that the program writes from its own objects: path → content. */
export function generated(): ReadonlyMap<string, string> {
  const files = new Map([...generateDocs(), ...generateSchemas()]);
  files.set("docs/reference/upstreams.schema.json", `${JSON.stringify(upstreamsJsonSchema(), null, 2)}\n`);
  files.set("docs/errors.md", errorsPage());
  files.set("README.md", spliceReadme(readFileSync("README.md", "utf8")));
  return files;
}

/** `docs`: writes the generated parts of README and docs/. */
export function docs(): void {
  for (const [path, content] of generated()) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    console.log(path);
  }
}
