import type { Json, ListedTool, Refresh, Seen } from "../../src/ab/types.ts";
import { fakeHost } from "./model-stub.ts";

/** What the fake servers can do: a small shop of books, far from what the project is about. */
export const BOOK_TOOLS: readonly ListedTool[] = [
  tool("add_book_review", "Write a review of a book.", { book_id: int("Number of the book"), body: text("Text of the review") }, [
    "book_id",
    "body",
  ]),
  tool(
    "list_books",
    "List the books of a shop, newest first.",
    { shop: text("Name of the shop"), genre: { type: "string", enum: ["novel", "poetry"] } },
    [],
    true,
  ),
  tool("get_book", "One book: title, price, how many are left.", { book_id: int("Number of the book") }, ["book_id"], true),
  tool(
    "delete_book",
    "Takes a book out of the shop for good.",
    { book_id: int("Number of the book"), confirm: { type: "boolean", description: "Must be true" } },
    ["book_id"],
  ),
];

const BOOKS = [
  { id: 7, title: "The Lighthouse", left: 3 },
  { id: 12, title: "Songs of Rain", left: 0 },
];

function text(description: string): Json {
  return { type: "string", description };
}

function int(description: string): Json {
  return { type: "integer", description };
}

export function tool(name: string, description: string, properties: Json, required: readonly string[] = [], reads = false): ListedTool {
  return {
    name,
    description,
    inputSchema: { type: "object", properties, required },
    ...(reads ? { annotations: { readOnlyHint: true } } : {}),
  };
}

export const seen = (value: unknown, isError = false): Seen =>
  typeof value === "string" ? { isError, text: value } : { isError, text: JSON.stringify(value), json: value as Json };

/** What the shop does, whichever way the call comes in. */
export function book(name: string, args: Json): Seen {
  const found = BOOKS.find(({ id }) => id === args.book_id);
  if (name === "list_books") return seen({ books: BOOKS });
  if (name === "delete_book" && args.confirm !== true) return seen("Please confirm: call again with confirm: true.", true);
  if (!found) return seen(`No book ${String(args.book_id)}`, true);
  return seen(name === "get_book" ? found : { done: name });
}

/** Everything up front. */
export const plainServer = () => fakeHost(() => BOOK_TOOLS, book);

/** A search that names tools without their schemas, one that shows a schema, and one that runs any tool. */
export function searchServer() {
  const tools = [
    tool("lookup_capability", "Find tools by what they do.", { question: text("What you need") }, ["question"], true),
    tool("describe_tool", "Shows the input schema of one tool.", { tool_name: text("Name of the tool") }, ["tool_name"], true),
    tool(
      "invoke",
      "Call any tool by its name.",
      { tool_name: text("Name of the tool"), arguments: { type: "object", description: "Arguments" } },
      ["tool_name", "arguments"],
    ),
  ];
  return fakeHost(
    () => tools,
    (name, args) => {
      if (name === "lookup_capability") return seen(BOOK_TOOLS.map((one) => `- **${one.name}**: ${one.description}`).join("\n"));
      if (name === "invoke") return book(String(args.tool_name), args.arguments as Json);
      const shown = BOOK_TOOLS.find((one) => one.name === args.tool_name);
      return shown ? seen({ name: shown.name, inputSchema: shown.inputSchema }) : seen("unknown", true);
    },
  );
}

/** Groups to open; the list changes at once, a turn later, or never. `runs`: there is also a tool that runs what is not listed. */
export function groupServer(refresh: Refresh, runs = false) {
  const own = [
    tool("show_categories", "Lists the categories of tools that can be loaded.", {}, [], true),
    tool("load_category", "Loads the tools of a category.", { category: text("Name of the category") }, ["category"]),
    ...(runs
      ? [tool("run_tool", "Run a tool that is not listed.", { tool: text("Its name"), params: { type: "object" } }, ["tool", "params"])]
      : []),
  ];
  let calls = -1;
  const names = new Set<string>(own.map(({ name }) => name));
  const late = refresh === "at_once" ? 0 : refresh === "next_turn" ? 1 : Number.POSITIVE_INFINITY;
  let turns = 0;
  const tools = () => (calls >= 0 && turns - calls >= late ? [...own, ...BOOK_TOOLS] : own);
  return fakeHost(tools, (name, args) => {
    turns++;
    const listed = tools().some((one) => one.name === name);
    if (!names.has(name) && !listed) return seen(`There is no tool named "${name}".`, true);
    if (name === "show_categories")
      return seen({
        categories: [
          { name: "books", description: "Books and their reviews" },
          { name: "invoices", description: "Bills" },
        ],
      });
    if (name === "run_tool") return book(String(args.tool), args.params as Json);
    if (name !== "load_category") return book(name, args);
    calls = turns;
    return seen({
      loaded: args.category,
      tools: BOOK_TOOLS.map((one) => ({ name: one.name, description: one.description, input_schema: one.inputSchema })),
    });
  });
}

/** One tool with a fixed set of actions. */
export function dispatcherServer() {
  const action = { type: "string", enum: BOOK_TOOLS.map(({ name }) => name), description: "What to do" };
  const tools = [
    tool("books", "Books and their reviews", { action, params: { type: "object", description: "Parameters of the action" } }, [
      "action",
      "params",
    ]),
    tool("weather", "Weather of a town", { town: text("Town") }, ["town"], true),
    tool("show_action", "Shows the parameters of an action.", { action: text("Name of the action") }, ["action"], true),
  ];
  return fakeHost(
    () => tools,
    (name, args) => {
      if (name === "books") return book(String(args.action), args.params as Json);
      const shown = BOOK_TOOLS.find((one) => one.name === args.action);
      return shown ? seen({ name: shown.name, schema: shown.inputSchema }) : seen("unknown", true);
    },
  );
}
