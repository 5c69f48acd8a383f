import type { Outcome } from "../catalog/types.ts";
import type { Connection } from "./connection.ts";
import { mayRead } from "./reading.ts";
import { isFull, TEMPLATES } from "./resources.ts";

type Fields = Readonly<Record<string, unknown>>;

const isPlainValue = (value: unknown): value is string | number => typeof value === "number" || (typeof value === "string" && value !== "");

/** The same address whatever was asked for: `merge_request.get` and `.overview` mean one merge request. */
function fill(uriTemplate: string, part: (name: string) => unknown): string | undefined {
  let whole = true;
  const uri = uriTemplate.replace(/\{(\+?)([a-z_]+)\}/g, (_all, plus: string, name: string) => {
    const value = part(name);
    whole &&= isPlainValue(value);
    return plus === "+" ? encodeURI(String(value)).replace(/[?#]/g, encodeURIComponent) : encodeURIComponent(String(value));
  });
  return whole ? uri : undefined;
}

/** A link to what an outcome shows, where that is one of the resources and this caller may read it. */
export function resourceLink(connection: Connection, outcome: Outcome): Fields | undefined {
  if (!isFull(connection) || !("of" in outcome) || !outcome.of) return undefined;
  const { action, params } = outcome.of;
  const template = TEMPLATES.find(({ reads, also = [] }) => reads.includes(action) || also.includes(action));
  if (!template || !mayRead(connection, template.reads, {})) return undefined;
  const found = "value" in outcome ? (outcome.value as Fields | undefined) : undefined;
  const part = (name: string) => {
    const field = template.fields?.[name];
    if (field !== undefined) return found?.[field] ?? params[name];
    return (name === "project_id" ? outcome.project : undefined) ?? params[name];
  };
  const uri = fill(template.uriTemplate, part);
  return uri === undefined ? undefined : { type: "resource_link", uri, name: template.name };
}
