import { createHash } from "node:crypto"

/** For responses that are not our pages: load nothing, and no framing (CSP 3; RFC 9700 §4.16). */
export const closedPolicy = "default-src 'none'; frame-ancestors 'none'"

/** Source expression for a script or stylesheet inside a page (CSP 3 §2.3.1). */
export const sourceHash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`
