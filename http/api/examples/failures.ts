import { codeOf } from "#src/shared/Failure.ts"

const issue = { path: "name", message: "must be a string" }

const failures: Readonly<
  Record<string, { readonly code?: string; readonly message: string; readonly details?: object }>
> = {
  400: { message: "limit: must be an integer between 1 and 100" },
  401: { message: "The credential is not valid: unknown, expired or revoked" },
  403: { message: "This key lacks the scope servers:write", details: { requiredScopes: ["servers:write"] } },
  404: { message: "There is no such server" },
  408: { code: "REQUEST_TIMEOUT", message: "The body did not arrive in time" },
  409: { message: "The slug menu is taken; choose another, or leave it out to get one made from the name" },
  422: { message: `${issue.path}: ${issue.message}`, details: { issues: [issue] } },
  429: { message: "More than 60 requests a minute; try again in 12 seconds" }
}

/** A failure as an answer has it; its code is spelled as below its path (contract: Conventions). */
export const failureExample = (status: string, meaning: string, isLower: boolean) => {
  // What an operation without a body refuses is in its query.
  const isBody = status === "400" && meaning.includes("body")
  const { code = codeOf(Number(status)), message, ...more } = isBody ? { message: meaning } : failures[status] ?? {
    message: meaning
  }
  return { error: { code: isLower ? code.toLowerCase() : code, message, ...more } }
}
