import { type Actor } from "#src/accounts/CurrentActor.ts"
import { Composites } from "#src/composites/Composites.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Authorization } from "#src/oauth/Authorization.ts"
import { type AuthorizationRequest, type PageError, type RedirectError } from "#src/oauth/AuthorizationRequest.ts"
import { BadRequest } from "#src/shared/Failure.ts"
import { Effect } from "effect"
import { errorPage, returnPage, stalePage } from "./authorize-errors.ts"
import { consentPage } from "./consent-page.ts"
import { readForm } from "./form.ts"
import { currentQuery, linksOf } from "./links.ts"
import { consentForm, seeOther } from "./respond.ts"
import { makeTickets } from "./tickets.ts"
import { visitor } from "./visit.ts"

/** The authorization endpoint (RFC 6749 §3.1) and the form of its consent page. */
export const makeAuthorize = Effect.gen(function*() {
  const authorization = yield* Authorization
  const composites = yield* Composites
  const settings = yield* CurrentSettings
  const tickets = yield* makeTickets
  const links = linksOf(settings)

  const examine = (query: string) => authorization.examine(new URLSearchParams(query))
  const purpose = (actor: Actor, query: string) => ({ form: "consent", holder: actor.credential.id, query }) as const

  /** Of the composite at a URL, which has them for a caller that it lets in. */
  const businessesAt = (url: string, caller: Actor) =>
    composites.readable({ caller, id: url.slice(url.lastIndexOf("/") + 1) }).pipe(
      Effect.map(({ members }) => ({
        count: members.length,
        unverified: members.filter(({ verification_tier }) => verification_tier === 0).length
      })),
      Effect.catchTag("CompositeNotFound", "BadCompositeId", () => Effect.succeed(undefined))
    )

  /** Whether no decision is needed: the user decided before, or the server's owner did. */
  const isDecided = Effect.fn("pages.isDecided")(function*(request: AuthorizationRequest, actor: Actor) {
    return (yield* authorization.admissionOf(request, actor.accountId)) === "admitted" &&
      !(yield* authorization.consentNeeded(request, actor.accountId))
  })

  const ask = Effect.fn("pages.ask")(function*(request: AuthorizationRequest, actor: Actor, query: string) {
    const { client, redirectUri, resource, scopes, target } = request
    const admission = yield* authorization.admissionOf(request, actor.accountId)
    const businesses = target.kind === "composite" && admission === "admitted"
      ? yield* businessesAt(resource, actor)
      : undefined
    const ticket = yield* tickets.issue(purpose(actor, query))
    const text = consentPage({
      action: links.consent(query),
      ticket,
      switchAccount: links.signIn(query),
      grants: links.grants(),
      client,
      redirectUri,
      target: {
        kind: target.kind,
        // Of another account's composite nothing is told.
        name: target.kind === "composite" && admission !== "admitted" ? "A composite of businesses" : target.name,
        url: resource,
        businesses
      },
      scopes,
      user: actor.email,
      admission
    })
    return consentForm(text, admission === "admitted" ? 200 : 403)
  })

  const authorize = Effect.gen(function*() {
    const query = yield* currentQuery
    const request = yield* examine(query)
    const actor = yield* visitor
    if (actor === undefined) return seeOther(links.signIn(query))
    return (yield* isDecided(request, actor))
      ? seeOther(yield* authorization.approve(request, actor.accountId, request.scopes))
      : yield* ask(request, actor, query)
  })

  const decide = Effect.gen(function*() {
    const query = yield* currentQuery
    const form = yield* readForm(settings)
    const actor = yield* visitor
    if (actor === undefined) return seeOther(links.signIn(query))
    if (!(yield* tickets.isValid(form.get("ticket"), purpose(actor, query)))) return stalePage(links.authorize(query))
    const request = yield* examine(query)
    const decision = form.get("decision")
    if (decision === "deny") return seeOther(authorization.deny(request))
    if (decision !== "allow") return yield* new BadRequest({ reason: "The decision must be to allow or to deny" })
    return (yield* authorization.admissionOf(request, actor.accountId)) === "admitted"
      ? seeOther(yield* authorization.approve(request, actor.accountId, request.scopes))
      : yield* ask(request, actor, query)
  })

  /** The request that led to a sign-in page, if any: its client, and whether our consent page follows. */
  const pendingRequest = Effect.fn("pages.outlook")(function*(query: string) {
    const request = query === "" ? undefined : yield* Effect.option(examine(query))
    if (request === undefined) return undefined
    if (request._tag === "None") return { clientName: "", staysHere: () => Effect.succeed(false) }
    const { value } = request
    return {
      clientName: value.client.clientName,
      staysHere: (actor: Actor) => Effect.map(isDecided(value, actor), (decided) => !decided)
    }
  })

  const redirectError = Effect.fn("pages.redirectError")(function*(error: RedirectError) {
    const actor = yield* visitor
    return actor !== undefined && (yield* authorization.trusts(actor.accountId, error.client))
      ? seeOther(error.redirectTo)
      : returnPage(error)
  })

  const withErrorPages = Effect.catchTags({
    PageError: (error: PageError) => Effect.succeed(errorPage(error)),
    RedirectError: redirectError
  })

  return { authorize: withErrorPages(authorize), decide: withErrorPages(decide), pendingRequest } as const
})
export type Authorize = Effect.Effect.Success<typeof makeAuthorize>
