import { createHash } from "node:crypto"

/** Of an answer that is no page of ours: it loads nothing, and stands in nobody's frame (CSP 3; RFC 9700 §4.16). */
export const closedPolicy = "default-src 'none'; frame-ancestors 'none'"

/** Source expression for a script or stylesheet inside a page (CSP 3 §2.3.1): no other counts. */
export const sourceHash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`
