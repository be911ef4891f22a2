import { isBlank } from "#src/format/blank.ts"
import { platformScopes } from "#src/oauth/scopes/platform-resource.ts"
import { mcpScopes, offlineAccess } from "#src/oauth/scopes/scopes.ts"
import { Text } from "#src/shared/text.ts"
import { Schema } from "effect"
import { redirectProblem } from "./redirect-uri.ts"

/**
 * A name shown on the consent page: no control characters, and none that change the direction of text or are invisible
 * (Unicode UAX #9), which could disguise the name.
 */
export const ClientName = Text(255).pipe(
  Schema.filter((name) => !isBlank(name) || "must not be blank"),
  Schema.filter((name) =>
    !/[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u.test(name) ||
    "must not contain control or direction characters"
  )
)

/** More than real clients need, and small enough for a row. */
const maxUris = 32
const maxTotalCharacters = 8192

const RedirectUri = Schema.String.pipe(
  Schema.filter((uri) => {
    const problem = redirectProblem(uri)
    return problem === undefined || problem
  })
)

const RedirectUris = Schema.Array(RedirectUri).pipe(
  Schema.minItems(1, { message: () => "must have at least one" }),
  Schema.maxItems(maxUris, { message: () => `must be at most ${maxUris}` }),
  Schema.filter((uris) => uris.join("").length <= maxTotalCharacters || "are too long together")
)

/** RFC 6749 §3.3. An empty one counts as absent. */
const ScopeText = Text(2048).pipe(
  Schema.pattern(/^(?:[\x21\x23-\x5b\x5d-\x7e]+(?: +[\x21\x23-\x5b\x5d-\x7e]+)*)?$/, {
    message: () => "must be a list of scopes with spaces between"
  })
)

const Names = Schema.Array(Text(100)).pipe(Schema.maxItems(50))

/** Fields that metadata documents and registrations share (RFC 7591 §2); null counts as absent. */
export const commonFields = {
  redirect_uris: RedirectUris,
  grant_types: Schema.optionalWith(
    Names.pipe(Schema.filter((names) => names.includes("authorization_code") || "must contain authorization_code")),
    { nullable: true, default: () => ["authorization_code"] }
  ),
  response_types: Schema.optionalWith(
    Names.pipe(Schema.filter((names) => names.includes("code") || "must contain code")),
    { nullable: true, default: () => ["code"] }
  ),
  scope: Schema.optionalWith(ScopeText, { nullable: true, default: () => "" })
}

const known: ReadonlySet<string> = new Set([...mcpScopes, ...platformScopes, offlineAccess])

/** The scopes that we know, each once; null when there is none (RFC 7591 §2 lets a server leave others out). */
export const tidyScope = (scope: string) => {
  const names = [...new Set(scope.split(" ").filter((name) => known.has(name)))]
  return names.length === 0 ? null : names.join(" ")
}
