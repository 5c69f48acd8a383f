import * as z from "zod";
import { optionIn } from "./option.ts";
import { onOff } from "./values.ts";

const option = optionIn("Safety");

/** What may become of tokens: the new ones, and the one that is in use. */
export const SECRET_OPTIONS = {
  revealSecrets: option({
    flag: "reveal-secrets",
    env: "GITLAB_BRIDGE_REVEAL_SECRETS",
    kind: "value",
    schema: z.enum(["never", "file", "result"]).default("file"),
    about:
      "New tokens, and files that hold secrets: never = withheld, file = written to a file with mode 0600 (secure files: save_as), result = in the answer",
    onHttp: "never",
  }),
  allowOwnToken: option({
    flag: "allow-own-token",
    env: "GITLAB_BRIDGE_ALLOW_OWN_TOKEN",
    kind: "switch",
    schema: onOff,
    about: "The token in use may be rotated or revoked; the connection ends with it",
  }),
} as const;
