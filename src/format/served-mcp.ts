import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  type Implementation,
  InitializeRequestSchema,
  type JSONRPCRequest,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  PingRequestSchema,
  ReadResourceRequestSchema
} from "@modelcontextprotocol/sdk/types.js"
import { z } from "zod"

/** Their form is the same in every revision. */
const specified = {
  "tools/list": ListToolsRequestSchema,
  "tools/call": CallToolRequestSchema,
  "prompts/list": ListPromptsRequestSchema,
  "prompts/get": GetPromptRequestSchema,
  "completion/complete": CompleteRequestSchema,
  "resources/list": ListResourcesRequestSchema,
  "resources/templates/list": ListResourceTemplatesRequestSchema,
  "resources/read": ReadResourceRequestSchema
} as const

type Specified = typeof specified

/** What a handler knows of a request beside its parameters. */
export interface Asked {
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  /** The revision of the protocol that the client speaks, where it says so. */
  readonly revision: string | undefined
  /** Tells the client of the progress of this request. */
  readonly progress: (params: Progress) => Promise<void>
  /** Aborted when the client says that it does not wait any more, where the answer can still be sent. */
  readonly left?: AbortSignal | undefined
  /** Asks the client, and waits for what it answers; absent for one that can't be asked so. */
  readonly elicit?: ((question: Question, signal: AbortSignal) => Promise<unknown>) | undefined
  /** In the revision whose servers send no requests: what came with this one, and whether its client can be asked. */
  readonly rounds?: Rounds | undefined
}

/** A form for the person at the client (MCP, elicitation). */
export interface Question {
  readonly message: string
  readonly requestedSchema: {
    readonly type: "object"
    readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    readonly required: ReadonlyArray<string>
  }
}

/** A question is a result there, and its answer a further request (MCP 2026-07-28, multi-round-trip requests). */
export interface Rounds {
  readonly canBeAsked: boolean
  /** Sent by the client: nothing that it says may be believed. */
  readonly state: string | undefined
  readonly responses: Readonly<Record<string, unknown>>
}

/** Whether a client's capability `elicitation` is for forms, as an empty one is (MCP 2025-11-25, elicitation). */
export const takesForms = (capability: unknown) =>
  typeof capability === "object" && capability !== null && !Array.isArray(capability) &&
  (Object.keys(capability).length === 0 || "form" in capability)

type Progress = {
  readonly progressToken: string | number
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

type Empty = Readonly<Record<string, never>>

/** None of its lists changes while a client looks at it. */
interface Capabilities {
  readonly tools?: Empty
  readonly prompts?: Empty
  readonly completions?: Empty
  readonly resources?: Empty
  readonly extensions?: { readonly [name: string]: Empty }
}

export type Answer = { readonly [key: string]: unknown }
type Handler<Params> = (params: Params, asked: Asked) => Answer | Promise<Answer>

export type Extended = Handler<Readonly<Record<string, unknown>>>

/** The methods of a server, by name. */
export type Methods =
  & { readonly [M in keyof Specified]?: Handler<z.output<Specified[M]>["params"]> }
  & {
    /** Those of extensions, which check their parameters themselves. */
    readonly extensions?: Readonly<Record<string, Extended>>
  }

/** An MCP server, written once for every revision of the protocol. */
export interface ServedMcp {
  readonly info: Implementation
  readonly capabilities: Capabilities
  readonly instructions?: string
  readonly methods: Methods
  /** How long its lists may be kept, and whether by all callers alike; not at all by default. */
  readonly lists?: { readonly ttlMs: number; readonly cacheScope: "public" | "private" }
}

const byMethod: Readonly<Record<string, z.ZodType>> = {
  ...specified,
  initialize: InitializeRequestSchema,
  ping: PingRequestSchema
}

const lists: ReadonlySet<string> = new Set([
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list"
])

/** No server here has given a cursor for a second page. */
export const onePage = "params.cursor: the list has one page; leave the cursor out"

const expectedTypes: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "true or false",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a string"
}

const valueAt = (value: unknown, path: ReadonlyArray<PropertyKey>) =>
  path.reduce<unknown>((at, key) => at === undefined || at === null ? undefined : Reflect.get(Object(at), key), value)

/** Why a request's parameters are invalid, in a sentence; undefined when they are valid. */
export const problemOf = (request: Pick<JSONRPCRequest, "method" | "params">): string | undefined => {
  const schema = Object.hasOwn(byMethod, request.method) ? byMethod[request.method] : undefined
  const result = schema?.safeParse(request)
  if (result === undefined) return undefined
  if (result.success) return lists.has(request.method) && request.params?.["cursor"] !== undefined ? onePage : undefined
  const [issue] = result.error.issues
  const path = issue?.path ?? []
  const name = path.map(String).join(".").slice(0, 200).toWellFormed() || "params"
  if (valueAt(request, path) === undefined) return `${name} is required`
  const type = issue !== undefined && "expected" in issue ? expectedTypes[String(issue.expected)] : undefined
  return type === undefined ? `${name} is not valid` : `${name} must be ${type}`
}

/** Parameters of extensions may be anything. */
export const anyParams = z.looseObject({})

/** Not the SDK's McpError: it puts "MCP error -32602:" before the message, and clients do so again. */
export const invalid = (message: string, data?: Readonly<Record<string, unknown>>) =>
  Object.assign(new Error(message), { code: ErrorCode.InvalidParams, ...(data === undefined ? {} : { data }) })
