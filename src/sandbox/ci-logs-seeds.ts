import { colors, command, epilogue, prologue, section, spinner } from "./ci-logs.ts";
import type { Job } from "./ci-state.ts";

const { GREEN, RED, RESET, CYAN } = colors;
const GREY = "\u001b[2m";

const at = (job: Job) => Math.floor(Date.parse(job.started_at ?? job.created_at) / 1000) + 12;

function install(job: Job): string[] {
  const packages = [
    "inflight@1.0.6",
    "glob@7.2.3",
    "rimraf@3.0.2",
    "@humanwhocodes/config-array@0.13.0",
    "@humanwhocodes/object-schema@2.0.3",
  ];
  const warnings = packages.map((name) => `npm warn deprecated ${name}: this package is no longer supported`);
  return [
    command("npm ci"),
    spinner("npm: idealTree"),
    ...warnings,
    "",
    `added ${300 + (job.id % 50)} packages, and audited ${301 + (job.id % 50)} packages in 14s`,
    "",
    "found 0 vulnerabilities",
  ];
}

const PRODUCTS = ["mug", "lamp", "rug", "chair", "shelf", "bowl", "frame", "bench"];
const CURRENCIES = ["EUR", "USD", "JPY"];

/** One line a case, as the verbose reporter writes it. */
function matrix(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const product = PRODUCTS[index % PRODUCTS.length];
    const currency = CURRENCIES[index % CURRENCIES.length];
    const quantity = (index % 9) + 1;
    return ` ${GREEN}✓${RESET} test/pricing.matrix.test.ts ${GREY}>${RESET} price matrix ${GREY}>${RESET} ${String(index + 1).padStart(4, "0")}: ${quantity} x ${product} in ${currency} ${GREY}${index % 4}ms${RESET}`;
  });
}

const passing = (file: string, names: readonly string[]) =>
  names.map((name, index) => ` ${GREEN}✓${RESET} ${file} ${GREY}>${RESET} ${name} ${GREY}${index + 1}ms${RESET}`);

const FAILURE = [
  `${RED}⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯${RESET}`,
  "",
  `${RED} FAIL ${RESET} test/money.test.ts > rounds half cents to even`,
  `${RED}AssertionError: expected 2 to be 3 // Object.is equality${RESET}`,
  "",
  `${GREEN}- Expected${RESET}`,
  `${RED}+ Received${RESET}`,
  "",
  `${GREEN}- 3${RESET}`,
  `${RED}+ 2${RESET}`,
  "",
  ` ${CYAN}❯${RESET} test/money.test.ts:14:46`,
  "     12| ",
  '     13| test("rounds half cents to even", () => {',
  "     14|   expect(times(money(25), 0.1).amount).toBe(3);",
  `       |                                        ${RED}^${RESET}`,
  "     15|   expect(times(money(35), 0.1).amount).toBe(4);",
  "     16| });",
  "",
  `${RED}⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯${RESET}`,
];

const FILES = [
  "app",
  "config",
  "logger",
  "server",
  "cart/cart",
  "cart/pricing",
  "cart/routes",
  "catalog/products",
  "catalog/routes",
  "catalog/search",
  "checkout/checkout",
  "checkout/gift",
  "checkout/payment",
  "checkout/routes",
  "email/send",
  "email/templates",
  "lib/errors",
  "lib/money",
  "lib/validate",
  "users/routes",
  "users/session",
];

function coverage(): string[] {
  const rows = FILES.map(
    (file, index) =>
      ` src/${file}.ts`.padEnd(32) +
      `| ${String(72 + ((index * 13) % 29)).padStart(6)} | ${String(60 + ((index * 7) % 41)).padStart(6)} | ${index % 3 === 0 ? "" : `${index * 3}-${index * 3 + 4}`}`,
  );
  return [
    `${GREY} % Coverage report from v8${RESET}`,
    "-".repeat(60),
    " File                           |  % Stmts | % Branch | Uncovered Line #s",
    "-".repeat(60),
    ...rows,
    "-".repeat(60),
  ];
}

function unitTests(job: Job): string {
  const cases = matrix(2380);
  const early = cases.slice(0, 1640);
  const body = [
    ...install(job),
    command("npm test"),
    "",
    "> @acme/webshop@1.4.0 test",
    "> vitest run --reporter=verbose --coverage",
    "",
    ` ${CYAN}RUN ${RESET} v3.2.4 /builds/acme/webshop`,
    "",
    ...passing("test/cart.test.ts", ["adding twice adds up", "a line can be removed", "no quantity below one"]),
    ...early,
    ...passing("test/money.test.ts", ["adds only the same currency", "multiplies and rounds"]),
    ` ${RED}×${RESET} test/money.test.ts ${GREY}>${RESET} rounds half cents to even ${GREY}6ms${RESET}`,
    `   ${RED}→ expected 2 to be 3 // Object.is equality${RESET}`,
    ...passing("test/money.test.ts", ["formats yen without decimals"]),
    ...cases.slice(early.length),
    ...passing("test/session.test.ts", ["a cookie comes back", "a changed cookie does not"]),
    "",
    ...FAILURE,
    "",
    ` ${GREY}Test Files${RESET}  ${RED}1 failed${RESET} | ${GREEN}6 passed${RESET} (7)`,
    ` ${GREY}     Tests${RESET}  ${RED}1 failed${RESET} | ${GREEN}2388 passed${RESET} (2389)`,
    ` ${GREY}  Start at${RESET}  16:43:02`,
    ` ${GREY}  Duration${RESET}  168.40s`,
    "",
    ...coverage(),
    "npm error Lifecycle script `test` failed with error:",
    "npm error code 1",
    "npm error path /builds/acme/webshop",
    "npm error workspace @acme/webshop@1.4.0",
    "npm error location /builds/acme/webshop",
    "npm error command failed",
    "npm error command sh -c vitest run --reporter=verbose --coverage",
  ];
  const upload = [
    "Uploading artifacts...",
    "coverage/: found 48 matching artifact files and directories",
    'Uploading artifacts as "archive" to coordinator... 201 Created',
  ];
  const cleanup = section("cleanup_file_variables", "Cleaning up project directory and file based variables", [], at(job) + 205, 1);
  return `${prologue(job)}${section("step_script", 'Executing "step_script" stage of the job script', body, at(job), 190)}${section("upload_artifacts_on_failure", "Uploading artifacts for failed job", upload, at(job) + 200, 4)}${cleanup}${epilogue(job)}`;
}

function lint(job: Job): string {
  const body = [
    ...install(job),
    command("npm run lint"),
    "",
    "> @acme/webshop@1.4.0 lint",
    "> eslint src test",
    "",
    "",
    "/builds/acme/webshop/src/lib/money.ts",
    `  17:7  ${RED}error${RESET}  'HALF' is assigned a value but never used  ${GREY}@typescript-eslint/no-unused-vars${RESET}`,
    "",
    `${RED}✖ 1 problem (1 error, 0 warnings)${RESET}`,
    "",
  ];
  return `${prologue(job)}${section("step_script", 'Executing "step_script" stage of the job script', body, at(job), 28)}${epilogue(job)}`;
}

function audit(job: Job): string {
  const body = [
    command("npm audit --audit-level=high"),
    "# npm audit report",
    "",
    "fast-redact  <=3.5.0",
    "Severity: high",
    "fast-redact vulnerable to prototype pollution",
    "fix available via `npm audit fix --force`",
    "Will install pino@10.1.0, which is a breaking change",
    "node_modules/fast-redact",
    "  pino  5.0.0 - 9.13.1",
    "  Depends on vulnerable versions of fast-redact",
    "",
    "2 high severity vulnerabilities",
  ];
  return `${prologue(job)}${section("step_script", 'Executing "step_script" stage of the job script', body, at(job), 6)}${epilogue(job)}`;
}

function e2e(job: Job): string {
  const image = "mcr.example.com/playwright:v1.56.1";
  const body = [
    `Using Docker executor with image ${image} ...`,
    `Pulling docker image ${image} ...`,
    `${colors.CLEAR}WARNING: Failed to pull image with policy "always": read tcp 10.0.4.17:51882->10.0.0.9:443: connection reset by peer (manager.go:238:2s)`,
  ];
  const head = `${colors.CLEAR}Running with gitlab-runner 18.5.0 (bda84871)\n${colors.CLEAR}  on browser-runner-2 hV2_9cKq, system ID: r_1b9f0de2\n`;
  return `${head}${section("prepare_executor", 'Preparing the "docker" executor', body, at(job) - 12, 3)}${epilogue(job)}`;
}

function smoke(job: Job): string {
  const tries = Array.from({ length: 10 }, (_, index) => `curl: (22) The requested URL returned error: 503 (try ${index + 1} of 10)`);
  const body = [
    command('./ci/smoke.sh "$SHOP_URL"'),
    "+ curl -fsS https://staging.shop.example.com/healthz",
    '{"ok":true}',
    "+ curl -fsS 'https://staging.shop.example.com/products?q=lamp'",
    ...tries,
    "smoke: /products answered 503, the shop cannot reach its database",
    "smoke: 1 of 2 checks failed",
  ];
  return `${prologue(job, "curlimages/curl:8.16.0")}${section("step_script", 'Executing "step_script" stage of the job script', body, at(job), 48)}${epilogue(job)}`;
}

/** Logs of the seeded failures, by the name that the seeds give them. */
export const SEEDED_LOGS: Readonly<Record<string, (job: Job) => string>> = { "unit-tests": unitTests, lint, audit, e2e, smoke };
