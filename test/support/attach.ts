export type CompletionRef =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string };

/** What a client can do beside calling tools. */
export interface Attachments {
  resources(): Promise<{ uri: string; name: string }[]>;
  templates(): Promise<{ uriTemplate: string; name: string }[]>;
  read(uri: string): Promise<{ uri: string; mimeType?: string; text?: string; blob?: string }[]>;
  prompts(): Promise<{ name: string; arguments?: { name: string; required?: boolean }[] }[]>;
  prompt(name: string, args?: Record<string, string>): Promise<{ role: string; content: { text?: string } }[]>;
  complete(ref: CompletionRef, name: string, value: string, others?: Record<string, string>): Promise<readonly string[]>;
}

/** Both SDKs have these under the same names. */
interface Attaching {
  listResources(): Promise<{ resources: unknown }>;
  listResourceTemplates(): Promise<{ resourceTemplates: unknown }>;
  readResource(params: { uri: string }): Promise<{ contents: unknown }>;
  listPrompts(): Promise<{ prompts: unknown }>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<{ messages: unknown }>;
  complete(params: never): Promise<{ completion: { values: readonly string[] } }>;
}

export function attachments(of: unknown): Attachments {
  const client = of as Attaching;
  return {
    resources: async () => (await client.listResources()).resources as never,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates as never,
    read: async (uri) => (await client.readResource({ uri })).contents as never,
    prompts: async () => (await client.listPrompts()).prompts as never,
    prompt: async (name, args = {}) => (await client.getPrompt({ name, arguments: args })).messages as never,
    complete: async (ref, name, value, others) => {
      const context = others ? { context: { arguments: others } } : {};
      return (await client.complete({ ref, argument: { name, value }, ...context } as never)).completion.values;
    },
  };
}
