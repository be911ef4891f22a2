import { Predicate } from "effect"

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

type Json = Record<string, unknown>

const children = (value: unknown) => (Predicate.isRecord(value) ? Object.entries(value) : []) as Array<[string, Json]>

const dig = (value: unknown, ...path: ReadonlyArray<string>) => {
  const found = path.reduce<unknown>((inner, key) => Predicate.isRecord(inner) ? inner[key] : undefined, value)
  return Predicate.isRecord(found) ? found : undefined
}

/** Responses that any operation can give, by the kind of operation. */
const common = (method: string, operation: Json) => ({
  ...(method === "get" || operation["requestBody"] === undefined ? {} : {
    400: "The body is not valid JSON",
    413: "The body is too large",
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

/**
 * Corrects the generated document to what is really sent: all errors share one envelope, and every response has the
 * request id and the rate limit.
 */
export const describeActualResponses = (spec: Json): Json => {
  for (const [, methods] of children(spec["paths"])) {
    for (const [method, operation] of children(methods)) {
      describeUpload(operation)
      const responses = operation["responses"] as Json
      for (const [status, description] of Object.entries(common(method, operation))) {
        responses[status] ??= { description }
      }
      for (const [status, response] of children(responses)) {
        response["headers"] = headers
        if (Number(status) < 400) continue
        // A report, not an error.
        if (status === "503" && operation["operationId"] === "health.health") {
          response["description"] = "Something that the platform needs does not work: the report says what"
          continue
        }
        const specific = common(method, operation) as Record<string, string>
        response["description"] = specific[status] ?? meanings[status] ?? response["description"]
        response["content"] = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } }
      }
    }
  }
  const components = (spec["components"] ??= {}) as Json
  components["schemas"] = { ...(components["schemas"] as Json), Error: envelope }
  return spec
}
