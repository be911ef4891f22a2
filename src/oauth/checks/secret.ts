import { parameter } from "./duplicates.ts"

const secrets = ["client_secret", "client_assertion", "client_assertion_type"]

/** Whether a client tries to authenticate, which it can't: clients are public (RFC 6749 §5.2). */
export const provesItself = (form: URLSearchParams): boolean =>
  secrets.some((name) => parameter(form, name) !== undefined)
