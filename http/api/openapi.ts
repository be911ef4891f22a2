import { areaOf } from "#http/traits/areas.ts"
import { defaults } from "#http/traits/Traits.ts"
import { describe, type Failure } from "#src/shared/Failure.ts"
import { StillRunning } from "#src/shared/Idempotency.ts"
import { type Declared } from "./declared.ts"
import { children, dig, type Json, operationsOf, usedSchemas } from "./describe.ts"
import { type Body, failureExample, unknownParameter } from "./examples/failures.ts"
import { examples } from "./examples/index.ts"
import { pathExamples } from "./examples/parameters.ts"

const envelope = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: { code: { type: "string" }, message: { type: "string" }, details: { type: "object" } }
    }
  }
}

const headers = {
  "X-Request-Id": { schema: { type: "string" } },
  "X-RateLimit-Limit": { schema: { type: "integer" }, description: "Requests a minute" },
  "X-RateLimit-Remaining": { schema: { type: "integer" } },
  "X-RateLimit-Reset": { schema: { type: "integer" }, description: "Unix seconds" }
}

const onEachAnswer = Object.fromEntries(
  Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }])
)

const bodyOf = (operation: Json): Body | undefined =>
  operation["requestBody"] === undefined
    ? undefined
    : dig(operation, "requestBody", "content", "multipart/form-data") === undefined
    ? "json"
    : "file"

/** Responses that any operation can give, by the kind of operation. */
const common = (method: string, operation: Json): Readonly<Record<string, string>> => ({
  ...(method === "get" || bodyOf(operation) === undefined ? {} : {
    400: bodyOf(operation) === "file"
      ? "The body has no file that can be read, or the query or an id in the path is not valid"
      : "The body is not valid JSON, or the query or an id in the path is not valid",
    413: "The body is too large",
    415: "The body has a Content-Encoding, such as gzip",
    422: "The body has wrong, missing or unknown fields: `details.issues[]` of `{path, message}`"
  }),
  429: "Too many requests: `Retry-After` tells when to come again"
})

const meanings: Readonly<Record<string, string>> = {
  400: "The query or an id in the path is not valid",
  401: "No valid credential",
  403: "The credential or the plan does not allow it",
  404: "Not found, or not the caller's",
  408: "The body did not arrive in time",
  409: "Conflict",
  410: "No longer known: begin anew",
  422: "A field is wrong, missing or not known: `details.issues[]` of `{path, message}`",
  429: "Too many requests",
  503: "Not possible for now: `error.message` says why, and `Retry-After`, where it is sent, when to try again"
}

/** The framework describes an upload as a list of files that are on its disk. */
const describeUpload = (operation: Json) => {
  const form = dig(operation, "requestBody", "content", "multipart/form-data", "schema", "properties")
  if (form !== undefined && "file" in form) form["file"] = { type: "string", format: "binary" }
}

/** Failures that the document describes once each and spelling of their codes, whatever the operations that give them. */
const failures = () => {
  const responses: Record<string, Json> = {}
  const names = new Map<string, string>()
  return {
    responses,
    reference: (description: string, { status, ...error }: Failure) => {
      const key = JSON.stringify([status, description, error])
      const others = Object.keys(responses).filter((name) => name.startsWith(`Error${status}`)).length
      const name = names.get(key) ?? `Error${status}${others === 0 ? "" : `-${others + 1}`}`
      names.set(key, name)
      responses[name] ??= {
        description,
        headers: onEachAnswer,
        content: {
          "application/json": {
            schema: { $ref: "#/components/schemas/Error" },
            example: { error }
          }
        }
      }
      return { $ref: `#/components/responses/${name}` }
    }
  }
}

/** What the operation takes and answers (http/api/examples). */
const showExample = (operationId: string, operation: Json) => {
  const { answer, body, others, query } = examples[operationId] ?? {}
  for (const parameter of (operation["parameters"] ?? []) as ReadonlyArray<Json>) {
    const example = (parameter["in"] === "query" ? query : pathExamples)?.[String(parameter["name"])]
    if (example !== undefined) parameter["example"] = example
  }
  for (const [, content] of children(dig(operation, "requestBody", "content"))) {
    if (body !== undefined) content["example"] = body
  }
  for (const [status, response] of children(operation["responses"])) {
    const example = others?.[Number(status)] ?? answer
    for (const [, content] of children(response["content"])) {
      if (Number(status) < 300 && example !== undefined) content["example"] = example
    }
  }
}

/** A failure of an operation, in one of the codes that it has for it, spelled as below its path. */
const exampleFor = (declared: Declared | undefined, path: string, operation: Json) => {
  const { codes, query, wrongQuery } = { ...defaults, ...areaOf(path), ...declared?.traits }
  const spelled = ({ code, ...failure }: Failure): Failure => ({
    code: codes === "lower" ? code.toLowerCase() : code,
    ...failure
  })
  const body = bodyOf(operation)
  return (status: number, meaning: string) => {
    // Every operation has a limit of requests; and a JSON body is read before the operation is asked.
    const isCommon = status === 429 || status === 400 && body === "json"
    const isQuery = status === 400 && body === undefined && query !== "any"
    const isRepeat = status === 409 && declared?.codes.get(409) === undefined
    const shown = isQuery
      ? describe(wrongQuery(unknownParameter))
      : isRepeat
      ? describe(new StillRunning({}))
      : undefined
    return spelled(shown ?? failureExample(status, meaning, isCommon ? [] : declared?.codes.get(status) ?? [], body))
  }
}

/**
 * Corrects the generated document to what is really sent: all errors share one envelope, and every response has the
 * request id and the rate limit. It shows an example of each operation.
 */
export const describeActualResponses = (declared: ReadonlyArray<Declared>) => (spec: Json): Json => {
  const { reference, responses: shared } = failures()
  const byId = new Map(declared.map((one) => [one.operationId, one]))
  for (const { method, operation, operationId, path, responses } of operationsOf(spec)) {
    const exampleOf = exampleFor(byId.get(operationId), path, operation)
    describeUpload(operation)
    const { idempotency, rate } = { ...defaults, ...byId.get(operationId)?.traits }
    const specific = common(method, operation)
    if (method === "post" && idempotency !== "none") responses["409"] ??= {}
    // Contract: Hub error codes, all hub endpoints: without the counters of the rate limit.
    if (rate === "hub") responses["503"] ??= {}
    for (const status of Object.keys(specific)) responses[status] ??= {}
    for (const [status, response] of children(responses)) {
      // Health's 503 is a report, not an error.
      const isReport = status === "503" && operationId === "health.health"
      if (Number(status) < 400 || isReport) {
        response["headers"] = onEachAnswer
        if (isReport) response["description"] = "Something that the platform needs does not work: the report says what"
      } else {
        const description = specific[status] ?? meanings[status] ?? String(response["description"])
        responses[status] = reference(description, exampleOf(Number(status), description))
      }
    }
    showExample(operationId, operation)
  }
  const components = (spec["components"] ??= {}) as Json
  const schemas = { ...(components["schemas"] as Json), Error: envelope }
  spec["components"] = {
    ...components,
    headers,
    responses: shared,
    schemas: usedSchemas(schemas, { paths: spec["paths"], responses: shared })
  }
  return spec
}
