/** A value as an OpenAPI document states it. */
export interface SpecShape {
  /** JSON types that it may have, and `file` for an upload; none = the document does not say. */
  readonly types: readonly string[];
  readonly enum: readonly string[];
  readonly items?: SpecShape;
  readonly fields: Readonly<Record<string, SpecField>>;
}

export interface SpecField extends SpecShape {
  readonly in: "path" | "query" | "body";
  readonly required: boolean;
}

export interface SpecOperation {
  /** Method and path below `/api/v4` with its own placeholders. */
  readonly method: string;
  readonly path: string;
  /** Path parameters by name, and by position through `path`. */
  readonly inPath: Readonly<Record<string, SpecField>>;
  readonly rest: Readonly<Record<string, SpecField>>;
  /** The answer is declared as a list; undefined = no answer is declared. */
  readonly list?: boolean;
}

type Plain = Readonly<Record<string, unknown>>;

const isPlain = (value: unknown): value is Plain => typeof value === "object" && value !== null && !Array.isArray(value);
const plain = (value: unknown): Plain => (isPlain(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Names of types that GitLab's own generator lets through, as JSON types. */
const SPELLINGS: Readonly<Record<string, string>> = {
  Array: "array",
  "[String]": "array",
  "[Integer]": "array",
  Float: "number",
  BigDecimal: "number",
  Numeric: "number",
  TrueClass: "boolean",
  FalseClass: "boolean",
  Symbol: "string",
  Time: "string",
  "Gitlab::Color": "string",
  File: "file",
  file: "file",
  "API::Validations::Types::WorkhorseFile": "file",
};

/** The same path with every placeholder as `{}`: names of placeholders mean nothing. */
export const skeletonOf = (method: string, path: string): string => `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, "{}")}`;

/** `(-/)`, `(ref/{ref}/)` and `(*path/)` may be left out, `*name` takes slashes: one plain template of each path. */
export function plainPath(path: string): string {
  return path
    .replace(/^\/api\/v4(?=\/)/, "")
    .replace(/\(\/\)\(\*[a-z_]+\)$/, "")
    .replace(/(?<!\\)\((?:[^()]*\/|\/[^()]*)\)/g, "")
    .replace(/\*([a-z_]+)/g, "{$1}")
    .replaceAll("\\", "");
}

/** Reads schemas of one document: `$ref` is followed, a union is every type of it. */
function shapeReader(document: Plain) {
  const resolve = (value: unknown): Plain => {
    let found = plain(value);
    for (let step = 0; typeof found.$ref === "string" && step < 8; step++) {
      const path = found.$ref.replace(/^#\//, "").split("/");
      found = path.reduce<Plain>((at, key) => plain(at[key]), document);
    }
    return found;
  };
  const read = (value: unknown, depth = 0): SpecShape => {
    const schema = resolve(value);
    const parts = ["oneOf", "anyOf", "allOf"].flatMap((key) => list(schema[key])).map((part) => read(part, depth + 1));
    const own = [schema.type].flat().filter((type): type is string => typeof type === "string" && type !== "null");
    const file = schema.format === "binary";
    const types = file ? ["file"] : own.map((type) => SPELLINGS[type] ?? type);
    const items = schema.items === undefined ? parts.find((part) => part.items)?.items : read(schema.items, depth + 1);
    const needed = list(schema.required);
    const properties = depth > 6 ? [] : Object.entries(plain(schema.properties));
    const fields = properties.map(([name, inner]): [string, SpecField] => [
      name,
      { ...read(inner, depth + 1), in: "body", required: needed.includes(name) },
    ]);
    return {
      types: [...new Set([...types, ...parts.flatMap((part) => part.types)])],
      enum: [...list(schema.enum).filter((one): one is string => typeof one === "string"), ...parts.flatMap((part) => part.enum)],
      ...(items ? { items } : {}),
      fields: foldNames(Object.assign({}, ...parts.map((part) => part.fields), Object.fromEntries(fields))),
    };
  };
  return { resolve, read };
}

/** `not[labels]` and `head.ref` become fields of `not` and `head`, `ids[]` a list called `ids`. */
function foldNames(fields: Readonly<Record<string, SpecField>>): Readonly<Record<string, SpecField>> {
  const folded: Record<string, SpecField> = {};
  for (const [name, field] of Object.entries(fields)) {
    const [, top, inner] = /^([^[.]+)(?:\[([^\]]*)\]|\.(.+))?/.exec(name) ?? [];
    const child = inner ?? name.slice((top ?? name).length + 1);
    if (top === undefined || top === name) folded[name] = { ...field, ...(folded[name] ? { fields: folded[name].fields } : {}) };
    else if (child === "")
      folded[top] = { ...field, types: ["array"], items: field.types[0] === "array" && field.items ? field.items : field };
    else {
      const owner = folded[top] ?? { types: ["object"], enum: [], fields: {}, in: field.in, required: false };
      folded[top] = { ...owner, fields: { ...owner.fields, [child]: field } };
    }
  }
  for (const [name, field] of Object.entries(folded))
    if (Object.keys(field.fields).some((inner) => /[[.]/.test(inner))) folded[name] = { ...field, fields: foldNames(field.fields) };
  return folded;
}

function answersList(operation: Plain, reader: ReturnType<typeof shapeReader>): boolean | undefined {
  const answers = Object.entries(plain(operation.responses)).filter(([status]) => status.startsWith("2"));
  const schemas = answers.flatMap(([, answer]) => Object.values(plain(reader.resolve(answer).content)).map((media) => plain(media).schema));
  return schemas.length === 0 ? undefined : schemas.some((schema) => reader.read(schema).types.includes("array"));
}

const METHODS = ["get", "post", "put", "patch", "delete", "head"];

/** All operations of an OpenAPI 3 document, in the shape that GitLab 18.9 writes and in that of 19.x. */
export function readSpec(document: unknown): readonly SpecOperation[] {
  const root = plain(document);
  const reader = shapeReader(root);
  return Object.entries(plain(root.paths)).flatMap(([path, item]) =>
    METHODS.filter((method) => isPlain(plain(item)[method])).map((method): SpecOperation => {
      const operation = plain(plain(item)[method]);
      const parameters = [...list(plain(item).parameters), ...list(operation.parameters)].map(reader.resolve);
      const named = (where: (place: unknown) => boolean, place: SpecField["in"]) =>
        Object.fromEntries(
          parameters
            .filter((one) => where(one.in))
            .map((one): [string, SpecField] => [
              String(one.name),
              { ...reader.read(one.schema), in: place, required: one.required === true },
            ]),
        );
      const body = reader.resolve(operation.requestBody);
      const media = Object.values(plain(body.content)).map((one) => reader.read(plain(one).schema).fields);
      const answer = answersList(operation, reader);
      return {
        method: method.toUpperCase(),
        path: plainPath(path),
        inPath: named((place) => place === "path", "path"),
        rest: foldNames({ ...named((place) => place === "query", "query"), ...Object.assign({}, ...media) }),
        ...(answer === undefined ? {} : { list: answer }),
      };
    }),
  );
}
