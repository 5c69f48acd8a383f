type Block = { readonly type: string; readonly uri?: unknown };

const MOST = 500;

/** Links that stood in answers, by client: what was linked can be read, and nothing else. */
export class Links {
  /** The oldest first. */
  readonly #known = new Map<string, Set<string>>();

  has(session: string, uri: string): boolean {
    return this.#known.get(session)?.has(uri) === true;
  }

  remember(session: string, content: readonly Block[]): void {
    const uris = content.flatMap(({ type, uri }) => (type === "resource_link" && typeof uri === "string" ? [uri] : []));
    if (uris.length === 0) return;
    const known = this.#known.get(session) ?? new Set<string>();
    this.#known.set(session, known);
    for (const uri of uris) {
      known.delete(uri);
      known.add(uri);
    }
    for (const oldest of known) if (known.size > MOST) known.delete(oldest);
  }

  forget(session: string): void {
    this.#known.delete(session);
  }
}
