import { type Berth } from "./Berth.ts"

/** One operation as the OpenAPI document tells of it. */
export interface Operation {
  /** `GET /v1/servers/{serverId}`. */
  readonly name: string
  readonly operationId: string
  readonly method: string
  /** With `{parameter}` in braces. */
  readonly path: string
  readonly parameters: ReadonlyArray<string>
  readonly query: ReadonlyArray<string>
  /** Property names of its JSON body, undefined when it takes none. */
  readonly bodyFields: ReadonlyArray<string> | undefined
  readonly statuses: ReadonlyArray<number>
  readonly needsCredential: boolean
}

export interface Response {
  readonly $ref?: string
  readonly description?: string
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>
}

interface Described {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<
    { readonly name: string; readonly in: string; readonly example?: string; readonly schema: JsonSchema }
  >
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>
  }
  readonly responses: Readonly<Record<string, Response>>
  readonly security?: ReadonlyArray<unknown>
}

export interface JsonSchema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
}

export interface OpenApi {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly info: { readonly description: string }
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, Response>>
  }
}

/** A response of an operation, where the document says it once for several. */
export const resolve = ({ components }: OpenApi, response: Response | undefined): Response | undefined =>
  response?.$ref === undefined ? response : components.responses[response.$ref.split("/").at(-1) ?? ""]

export const openApi = async (berth: Berth) => (await berth.request<OpenApi>("GET", "/openapi.json")).body

const named = (parameters: Described["parameters"], where: string) =>
  (parameters ?? []).filter((parameter) => parameter.in === where).map(({ name }) => name)

/** Every operation that the platform says it has. */
export const operationsOf = (document: OpenApi): ReadonlyArray<Operation> =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const schema = described.requestBody?.content["application/json"]?.schema
      const body = schema?.$ref === undefined
        ? schema
        : document.components.schemas[schema.$ref.split("/").at(-1) ?? ""]
      return {
        name: `${method.toUpperCase()} ${path}`,
        operationId: described.operationId,
        method: method.toUpperCase(),
        path,
        parameters: named(described.parameters, "path"),
        query: named(described.parameters, "query"),
        bodyFields: schema === undefined ? undefined : Object.keys(body?.properties ?? {}),
        statuses: Object.keys(described.responses).map(Number),
        needsCredential: (described.security ?? []).length > 0
      }
    })
  )

/** The operation's path with its parameters filled in. */
export const fill = (operation: Operation, values: Readonly<Record<string, string>>) =>
  operation.path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? `no-${name}`)

/** Whether failures at a path have lower-case codes. */
export const speaksLowerCase = (path: string) =>
  /^\/(api\/v1\/|v1\/(hub|directory)\/|\.well-known\/mcp-)/.test(`${path}/`)
