import { inWords } from "#src/format/issues.ts"
import { failsWith, Invalid, sentence } from "#src/shared/Failure.ts"
import { optional } from "#src/shared/text.ts"
import { Record, Schema } from "effect"

/** Issues that the message names; the details have all. */
const mostTold = 5

/** A query is not valid, in the code of the hub's tables (contract: Hub error codes). */
export class BadQuery extends Schema.TaggedError<BadQuery>()(
  "BadQuery",
  { issues: Invalid.fields.issues },
  failsWith(400, "VALIDATION_ERROR")
) {
  override get message() {
    const told = this.issues.slice(0, mostTold).map((issue) => sentence([issue]))
    return [...told, ...told.length < this.issues.length ? [`and ${this.issues.length - told.length} more`] : []].join(
      "; "
    )
  }
  get details() {
    return { issues: this.issues }
  }
}

/** Wrong arguments of a tool of the hub that reads. */
export const asBadQuery = ({ issues }: Invalid) => new BadQuery({ issues })

/** How the documents of both doors describe a parameter; an array is, in a query, a text with commas. */
export type Described = {
  readonly description: string
  readonly jsonSchema: { readonly type: string; readonly [key: string]: unknown }
}

const inQuery = ({ description, jsonSchema }: Described): Described =>
  jsonSchema.type === "array"
    ? { description: `${description}; with commas between them`, jsonSchema: { type: "string" } }
    : { description, jsonSchema }

/** As a query has it: once, or (which is wrong but for a list) several times. */
const Sent = Schema.Union(Schema.String, Schema.Array(Schema.String))
const Once = Sent.pipe(Schema.filter((sent) => typeof sent === "string" || "is given more than once"))
const sentAs = (one: Described) => (one.jsonSchema.type === "array" ? Sent : Once).annotations(inQuery(one))

/** Any text and any name: a service that takes these tells what is wrong with them, in its own code, at both doors. */
const open = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({
    parseOptions: { onExcessProperty: "preserve", errors: "all" },
    decodingFallback: inWords
  })

/** The parameters of a query, and the same as a tool's arguments. */
export const queryParameters = <const D extends Readonly<Record<string, Described>>>(described: D) => ({
  Parameters: open(Record.map(described, (one: Described) => optional(sentAs(one)))),
  Arguments: open(Record.map(described, (one: Described) => optional(Schema.Unknown.annotations(one))))
})
