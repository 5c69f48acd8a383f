/** An answer that ends a request early: GitLab's own status and body. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    super(`${status} ${JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

const message = (status: number, text: unknown) => new ApiFailure(status, { message: text });

/** `notFound("Project")` → 404 Project Not Found. */
export const notFound = (what?: string) => message(404, what ? `404 ${what} Not Found` : "404 Not found");

export const forbidden = (why?: string) => message(403, why ? `403 Forbidden - ${why}` : "403 Forbidden");

export const unauthorized = () => message(401, "401 Unauthorized");

/** A parameter that the API layer itself refuses: `badParams("title is missing")`. */
export const badParams = (text: string) => new ApiFailure(400, { error: text });

/** `400 Bad request - …`, from inside an endpoint. */
export const badRequest = (why: string) => message(400, `400 Bad request - ${why}`);

/** A validation of a model: `invalid({ title: ["can't be blank"] })`. */
export const invalid = (fields: Readonly<Record<string, readonly unknown[]>>) => message(400, fields);

/** A bare text or list as `message`. */
export const failure = message;
