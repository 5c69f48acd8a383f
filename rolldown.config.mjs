import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { defineConfig } from "rolldown";

rmSync("dist", { recursive: true, force: true });

/** The data files lie beside the bundle as they lie beside the sources: rows are read, not compiled in. */
const copyData = {
  name: "copy-data",
  writeBundle() {
    mkdirSync("dist/data", { recursive: true });
    for (const folder of ["src/catalog/data", "src/discovery/data"]) {
      for (const file of readdirSync(folder)) cpSync(`${folder}/${file}`, `dist/data/${file}`);
    }
    execFileSync(process.execPath, ["--import", "tsx", "scripts/prebuild.ts", "dist/data"]);
    cpSync("fixtures/sandbox", "dist/fixtures/sandbox", { recursive: true });
    cpSync("fixtures/ab", "dist/fixtures/ab", { recursive: true, filter: (path) => !path.endsWith("servers") });
    for (const name of ["graphql", "graphql-newer"]) cpSync(`fixtures/facts/${name}.graphql`, `dist/fixtures/facts/${name}.graphql`);
  },
};

export default defineConfig({
  input: { main: "src/main.ts", index: "src/index.ts" },
  platform: "node",
  // Counts tokens where it is installed; never shipped.
  external: [/^gpt-tokenizer/],
  plugins: [copyData],
  output: { dir: "dist", format: "esm", minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } }, chunkFileNames: "[name]-[hash].js" },
});
