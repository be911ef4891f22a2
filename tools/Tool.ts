import { type Actor, type CurrentActor } from "#src/accounts/CurrentActor.ts"
import { mayDo, type Needs } from "#src/accounts/Policy.ts"
import { asBadRequest, decodeInput, type Invalid } from "#src/shared/Failure.ts"
import { type Report } from "#src/shared/progress.ts"
import { type ToolAnnotations } from "@modelcontextprotocol/sdk/types.js"
import { Effect, JSONSchema, Schema } from "effect"
import { coercedBy } from "./coerce.ts"
import { plainSchema } from "./plain-schema.ts"

/** Groups for `?toolsets=`. */
export const Toolset = Schema.Literal("deploy", "hub", "directory", "billing")
export type Toolset = typeof Toolset.Type

/** `R`: what a call needs beside its arguments. */
export interface Tool<R = CurrentActor> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly toolset: Toolset
  readonly inputSchema: JsonObjectSchema
  readonly outputSchema?: JsonObjectSchema
  readonly annotations: ToolAnnotations
  /** Whether its failures have lower-case codes, as those of its HTTP twin below `/api/v1` or `/v1/hub`. */
  readonly lowerCaseCodes: boolean
  /** The credential that it asks for. */
  readonly needs: Needs
  /** Whether the credential may call it; other tools are not listed, and fail when called. */
  readonly allows: (actor: Actor) => boolean
  /** The text of a result for clients that read structuredContent too; by default `resultText`'s. */
  readonly text?: (value: unknown) => string
  /** What the person at the client is asked before it runs (`confirm.ts`); most tools ask nothing. */
  readonly question?: (args: unknown) => Effect.Effect<string, unknown, R>
  readonly call: (args: unknown, report: Report) => Effect.Effect<unknown, unknown, R>
}

type JsonObjectSchema = { readonly type: "object"; readonly [key: string]: unknown }

/**
 * MCP requires an object at the root, also for a tool without fields. `$schema` is dropped, since MCP defines the
 * dialect (drafts 2020-12 and 7 agree on what we use).
 */
const jsonSchemaOf = (schema: Schema.Schema.Any): JsonObjectSchema => {
  const { $schema: _schema, ...root } = JSONSchema.make(schema)
  // The schema of an empty struct is a union too, of anything that is not null.
  return "properties" in root || "anyOf" in root && root.anyOf.every((member) => "properties" in member)
    ? { ...plainSchema(root as unknown as Readonly<Record<string, unknown>>), type: "object" }
    : { type: "object", properties: {}, additionalProperties: false }
}

const hints = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  create: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  update: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  /** What was there is gone, which an update leaves but for the fields that it names. */
  replace: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  /** A DELETE over HTTP. */
  delete: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  /** Another's tool decides, and the next one may do more: the protocol's defaults (MCP 2025-11-25, ToolAnnotations). */
  unknown: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
} as const

/**
 * Binds one service operation to one MCP tool: decode the arguments, run, encode the result. `success` is the schema of
 * `structuredContent` (the HTTP body's `data`, or the whole body of a list); absent where HTTP answers 204.
 */
export const tool = <P, PI, A, AI, E, R extends CurrentActor>(options: {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly toolset: Toolset
  readonly effect: keyof typeof hints
  /** A key or client needs one of these scopes; `session`: sessions, and clients with the scope `account`, only. */
  readonly needs: Needs
  readonly lowerCaseCodes?: boolean
  readonly params: Schema.Schema<P, PI>
  /**
   * What wrong arguments are of a tool that reads or deletes, which has a query over HTTP and no body, where the contract
   * has another code than bad_request.
   */
  readonly wrongQuery?: (error: Invalid) => unknown
  /** What is refused whatever else is wrong with the arguments. */
  readonly before?: (args: unknown) => Effect.Effect<void, unknown, R>
  readonly success?: Schema.Schema<A, AI>
  readonly text?: (value: AI) => string
  /** For what destroys much: the question that names it, asked of a client that can be asked. */
  readonly confirm?: (params: NoInfer<P>) => Effect.Effect<string, unknown, R>
  readonly run: (params: P, report: Report) => Effect.Effect<NoInfer<A> | void, E, R>
}): Tool<R> => {
  const coerced = coercedBy(options.params)
  const decode = decodeInput(options.params)
  const { before = () => Effect.void, confirm, needs, success, text, wrongQuery = asBadRequest } = options
  const hasQuery = options.effect === "read" || options.effect === "delete"
  const asFailure = (error: Invalid) => hasQuery ? wrongQuery(error) : error
  const encode = success === undefined ? () => Effect.succeed(undefined) : Schema.encodeUnknown(success)
  const paramsOf = (args: unknown) => Effect.mapError(decode(coerced(args)), asFailure)
  return {
    name: options.name,
    title: options.title,
    description: options.description,
    toolset: options.toolset,
    inputSchema: jsonSchemaOf(options.params),
    ...(success === undefined ? {} : { outputSchema: jsonSchemaOf(success) }),
    ...(text === undefined ? {} : { text: (value: unknown) => text(value as AI) }),
    lowerCaseCodes: options.lowerCaseCodes ?? false,
    annotations: { title: options.title, openWorldHint: false, ...hints[options.effect] },
    needs,
    allows: (actor) => mayDo(actor, needs),
    ...(confirm === undefined ? {} : { question: (args: unknown) => Effect.flatMap(paramsOf(args), confirm) }),
    call: (args, report) =>
      before(args).pipe(
        Effect.zipRight(paramsOf(args)),
        Effect.flatMap((params) => options.run(params, report)),
        Effect.flatMap(encode)
      )
  }
}
