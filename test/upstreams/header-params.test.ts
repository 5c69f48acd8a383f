import { describe, expect, it } from "vitest";
import { faultInHeaders } from "../../src/upstreams/header-params.ts";

const wants = (name: unknown, type: unknown = "string") => ({ type, "x-mcp-header": name });
const schema = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({ type: "object", properties, ...more });

describe("parameters that a tool wants as headers", () => {
  it.each([
    schema({}),
    schema({ a: { type: "string" } }),
    schema({ a: wants("Region"), b: wants("Priority", "integer"), c: wants("Debug", "boolean") }),
    schema({ a: { type: "object", properties: { b: wants("Deep") } } }),
    // A property may be called like the mark.
    schema({ "x-mcp-header": { type: "string" } }),
  ])("are good: %j", (good) => expect(faultInHeaders(good)).toBeUndefined());

  it.each([
    schema({ a: wants("") }),
    schema({ a: wants(5) }),
    schema({ a: wants("My Region") }),
    schema({ a: wants("Region:Primary") }),
    schema({ a: wants("Région") }),
    schema({ a: wants("Region\t1") }),
    schema({ a: wants("Region\r\nEvil: yes") }),
    schema({ a: wants("A", "number") }),
    schema({ a: wants("A", "object") }),
    schema({ a: wants("A", "array") }),
    schema({ a: wants("A", "null") }),
    schema({ a: wants("A", ["string", "null"]) }),
    schema({ a: wants("Region"), b: wants("region") }),
    schema({ a: { type: "object", properties: { b: wants("One") } }, c: wants("one") }),
    schema({ a: { type: "array", items: wants("A") } }),
    schema({}, { anyOf: [{ properties: { a: wants("A") } }] }),
    schema({}, { $defs: { a: wants("A") } }),
    schema({}, { "x-mcp-header": "Root" }),
  ])("are not: %j", (bad) => expect(faultInHeaders(bad)).toBeDefined());
});
