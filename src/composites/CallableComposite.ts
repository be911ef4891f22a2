import { failsWith } from "#src/shared/Failure.ts"
import { Input, List, optional, Text } from "#src/shared/text.ts"
import { Schema } from "effect"
import { MemberCode, RpcCode } from "./member-code.ts"

/** Above so many tools a composite lists only those by which the others are found, described and called. */
export const mostListedTools = 40

/** Names of the composite's own tools. */
export const ownToolNames = {
  members: "composite_members",
  find: "find_tools",
  describe: "describe_tools",
  call: "call_tool"
} as const
export const reservedNames: ReadonlySet<string> = new Set(Object.values(ownToolNames))

const ToolName = Text(128)
const Fields = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  // Validators reject the `$id` of Schema.Unknown where it stands twice.
  jsonSchema: { type: "object" }
})

/** What `find_tools` tells at once, unless it is asked for more. */
export const usuallyFound = 20

export const FindTools = Input({
  query: optional(Text(200).annotations({ description: "Words of what the tool is to do; left out: every tool" })),
  limit: optional(
    Schema.Number.pipe(Schema.int(), Schema.between(1, 50)).annotations({
      description: `At most so many are told, ${usuallyFound} by default`,
      jsonSchema: { type: "integer", minimum: 1, maximum: 50, default: usuallyFound }
    })
  ),
  offset: optional(
    Schema.Number.pipe(Schema.int(), Schema.nonNegative()).annotations({
      description: "How many of the best matches to skip, to see those that a first answer had no room for",
      jsonSchema: { type: "integer", minimum: 0 }
    })
  )
})
export const DescribeTools = Input({
  names: List(ToolName).pipe(Schema.minItems(1), Schema.maxItems(10)).annotations({
    description: "Names from find_tools, at most 10"
  })
})
export const CallTool = Input({
  name: ToolName.annotations({ description: "A name from find_tools" }),
  arguments: optional(Fields.annotations({
    description: "As describe_tools tells them",
    jsonSchema: { type: "object" }
  }))
})

/** Of a composite whose members have all left it. */
export const withoutMembers =
  "No business meets its conditions at the moment. They are looked for anew on each request: try again later."

/** `composite_members`. */
export const MemberList = Schema.Struct({
  composite: Schema.Struct({ id: Schema.String, name: Schema.String, description: Schema.String }),
  members: Schema.Array(Schema.Struct({
    slug: Schema.String,
    name: Schema.String,
    callable: Schema.Boolean,
    code: optional(MemberCode).annotations({ description: "Why it can't be called here, now or at all" }),
    reason: optional(Schema.String).annotations({ description: "The same in words" }),
    grantId: optional(Schema.String).annotations({
      description: "The grant that was revoked: renew_grant, or POST /v1/auth/grants/{grantId}/renew, allows it again"
    }),
    mcpServerUrl: Schema.String
  })),
  note: optional(Schema.String).annotations({ description: "Where there is none, that it is so" }),
  clashes: Schema.Array(Schema.Struct({
    name: Schema.String,
    claims: Schema.Array(Schema.String).annotations({ description: "slug: tool" }),
    isPrefixed: Schema.Boolean.annotations({
      description: "true: the tools are there as {slug}__{tool}; false: they are left out, since two have one name"
    })
  }))
})
export type MemberList = typeof MemberList.Type

/** `find_tools`. */
export const FoundTools = Schema.Struct({
  tools: Schema.Array(Schema.Struct({
    name: Schema.String,
    description: Schema.String,
    businesses: Schema.Array(Schema.String),
    arguments: Schema.Array(Schema.String),
    readOnly: Schema.Boolean
  })),
  total: Schema.Int.annotations({ description: "How many match, on all pages: offset tells the next" }),
  hint: optional(Schema.String).annotations({ description: "Where nothing matches: what to try" })
})
export type FoundTools = typeof FoundTools.Type

/** `describe_tools`. */
export const DescribedTools = Schema.Struct({
  tools: Schema.Array(Schema.Struct({
    name: Schema.String,
    title: optional(Schema.String),
    description: Schema.String,
    inputSchema: Fields,
    outputSchema: optional(Fields),
    resultSchema: optional(Fields).annotations({
      description: "Of answers[].result, where every business's tool says the same",
      jsonSchema: { type: "object" }
    }),
    annotations: Fields,
    _meta: optional(Fields)
  })),
  unknown: optional(Schema.Array(Schema.Struct({ name: Schema.String, instead: Schema.String }))).annotations({
    description: "Names that no tool has, and what to do instead"
  })
})
export type DescribedTools = typeof DescribedTools.Type

/** No tool, prompt or resource of the composite is called so. */
export class NotOffered extends Schema.TaggedError<NotOffered>()("NotOffered", {
  what: Schema.Literal("tool", "prompt", "resource"),
  name: Schema.String,
  /** Of a tool: what to do in its place. */
  instead: Schema.optionalWith(Schema.String, { exact: true, default: () => "" })
}, failsWith(404)) {
  override get message() {
    const message = `There is no ${this.what} ${this.name.slice(0, 200).toWellFormed()} in this composite`
    return this.instead === "" ? message : `${message}. ${this.instead}`
  }
}

/** A member gave no result to what it alone was asked. */
export class MemberFailed extends Schema.TaggedError<MemberFailed>()("MemberFailed", {
  slug: Schema.String,
  code: MemberCode,
  reason: Schema.String,
  rpcCode: Schema.optional(RpcCode)
}, failsWith(502)) {
  override get message() {
    return `${this.slug}: ${this.reason}`
  }
  get failureCode() {
    return this.code.toUpperCase()
  }
}
