import { isBlank } from "#src/format/blank.ts"
import { Schema } from "effect"
import { httpsUrlProblem } from "./https-url.ts"
import { Text } from "./text.ts"

/** Text that may span lines; no other control characters. */
export const Prose = (max: number) =>
  Text(max).pipe(
    Schema.filter((text) => !/(?![\t\n\r])\p{Cc}/u.test(text) || "must not contain control characters", {
      jsonSchema: {}
    })
  )

/** One line, or empty. Blank text is rejected, since it would look empty but count as a value. */
export const Line = (max: number) =>
  Text(max).pipe(
    Schema.filter((text) => text === "" || !isBlank(text) || "must not be blank; leave it empty", { jsonSchema: {} }),
    Schema.filter((text) => !/\p{Cc}/u.test(text) || "must not contain control characters", { jsonSchema: {} })
  )

/** `https://…`. */
export const HttpsUrl = Text(2048).pipe(
  Schema.filter((text) => httpsUrlProblem(text) ?? true, { jsonSchema: { format: "uri" } })
)

/** The same, or empty. */
export const Website = Line(2048).pipe(
  Schema.filter((text) => text === "" || (httpsUrlProblem(text) ?? true), { jsonSchema: {} })
)
