import { areaOf } from "#http/traits/areas.ts"
import { children, dig, type Json, operationsOf, usedSchemas } from "./describe.ts"
import { failureExample } from "./examples/failures.ts"
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

/** Responses that any operation can give, by the kind of operation. */
const common = (method: string, operation: Json): Readonly<Record<string, string>> => ({
  ...(method === "get" || operation["requestBody"] === undefined ? {} : {
    400: "The body is not valid JSON",
    413: "The body is too large",
    415: "The body has a Content-Encoding, such as gzip",
    422: "The body has wrong, missing or unknown fields: `details.issues[]` of `{path, message}`"
  }),
  429: "Too many requests: `Retry-After` tells when to come again"
})

const meanings: Readonly<Record<string, string>> = {
  400: "Bad request",
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
    reference: (status: string, description: string, isLower: boolean) => {
      const key = JSON.stringify([status, description, isLower])
      const others = Object.keys(responses).filter((name) => name.startsWith(`Error${status}`)).length
      const name = names.get(key) ?? `Error${status}${others === 0 ? "" : `-${others + 1}`}`
      names.set(key, name)
      responses[name] ??= {
        description,
        headers: onEachAnswer,
        content: {
          "application/json": {
            schema: { $ref: "#/components/schemas/Error" },
            example: failureExample(status, description, isLower)
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

/**
 * Corrects the generated document to what is really sent: all errors share one envelope, and every response has the
 * request id and the rate limit. It shows an example of each operation.
 */
export const describeActualResponses = (spec: Json): Json => {
  const { reference, responses: shared } = failures()
  for (const { method, operation, operationId, path, responses } of operationsOf(spec)) {
    const isLower = areaOf(path).codes === "lower"
    describeUpload(operation)
    const specific = common(method, operation)
    for (const status of Object.keys(specific)) responses[status] ??= {}
    for (const [status, response] of children(responses)) {
      // Health's 503 is a report, not an error.
      const isReport = status === "503" && operationId === "health.health"
      if (Number(status) < 400 || isReport) {
        response["headers"] = onEachAnswer
        if (isReport) response["description"] = "Something that the platform needs does not work: the report says what"
      } else {
        responses[status] = reference(
          status,
          specific[status] ?? meanings[status] ?? String(response["description"]),
          isLower
        )
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
