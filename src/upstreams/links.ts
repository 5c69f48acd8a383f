type Block = { readonly type: string; readonly uri?: unknown };

/** The resource behind a link. */
export interface Linked {
  /** Whose answer had the link. */
  readonly action: string;
  read(): Promise<Readonly<Record<string, unknown>>>;
}

const MOST = 500;

/** Links that stood in answers, by client, with the action that answered: what was linked can be read, and nothing else. */
export class Links {
  /** The oldest first. */
  readonly #known = new Map<string, Map<string, string>>();

  /** The action whose answer had the link. */
  from(session: string, uri: string): string | undefined {
    return this.#known.get(session)?.get(uri);
  }

  remember(session: string, action: string, content: readonly Block[]): void {
    const uris = content.flatMap(({ type, uri }) => (type === "resource_link" && typeof uri === "string" ? [uri] : []));
    if (uris.length === 0) return;
    const known = this.#known.get(session) ?? new Map<string, string>();
    this.#known.set(session, known);
    for (const uri of uris) {
      known.delete(uri);
      known.set(uri, action);
    }
    for (const oldest of known.keys()) if (known.size > MOST) known.delete(oldest);
  }

  forget(session: string): void {
    this.#known.delete(session);
  }
}
