/** A driver that follows a task's path has none through this server. That says nothing about the server: it is told apart from failures. */
export class NoPath extends Error {
  override readonly name = "NoPath";
}
