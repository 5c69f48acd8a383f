import { fixture } from "./fixtures.ts";
import type { Json } from "./types.ts";

type Fields = Readonly<Record<string, string>>;

let known: Readonly<Record<string, Fields>> | undefined;

/** Field names and types of an entity. */
export function entityFields(name: string | undefined): Fields {
  known ??= fixture<Record<string, Fields>>("entities");
  return (name && known[name]) || {};
}

const AT_REST: Readonly<Record<string, unknown>> = { boolean: false, array: [] };

/** Every field of an entity with what it holds where nobody has set it, but for those that are only there on request. */
export function atRest(name: string, onRequest: readonly string[]): Json {
  const fields = Object.entries(entityFields(name)).filter(([field]) => !onRequest.includes(field));
  return Object.fromEntries(fields.map(([field, type]) => [field, field.endsWith("_access_level") ? "enabled" : (AT_REST[type] ?? null)]));
}
