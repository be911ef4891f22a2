import { withSession } from "#http/callers/session-cookie.ts"
import { Accounts } from "#src/accounts/Accounts.ts"
import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { HttpServerResponse } from "@effect/platform"
import { Effect, Option } from "effect"
import { enteredIn, FormRejected, makeAttempt } from "./attempt.ts"
import { type Authorize } from "./authorize.ts"
import { readForm } from "./form.ts"
import { currentQuery, linksOf } from "./links.ts"
import { continuePage } from "./message-page.ts"
import { ownPage } from "./own-page.ts"
import { page, seeOther } from "./respond.ts"
import { signInPage, type SignInProps, signUpPage } from "./sign-in-page.ts"
import { makeTickets } from "./tickets.ts"
import { makeVisit, visitor } from "./visit.ts"

type Kind = "sign-in" | "sign-up"

const stale = new FormRejected({
  faults: [{ message: "The page was open for too long, or without cookies. Please enter your details again." }],
  status: 403
})

/** The sign-in and sign-up pages. */
export const makeSignIn = Effect.fn("pages.makeSignIn")(function*({ pendingRequest }: Authorize) {
  const accounts = yield* Accounts
  const attempt = yield* makeAttempt
  const settings = yield* CurrentSettings
  const tickets = yield* makeTickets
  const links = linksOf(settings)

  const show = Effect.fn("pages.showSignIn")(function*(kind: Kind, form?: URLSearchParams, rejection?: FormRejected) {
    const query = yield* currentQuery
    const { holder, remember } = yield* makeVisit(settings)
    const [action, other] = kind === "sign-in" ? [links.signIn, links.signUp] : [links.signUp, links.signIn]
    const props: SignInProps = {
      action: action(query),
      other: other(query),
      ticket: yield* tickets.issue({ form: kind, holder, query }),
      clientName: (yield* pendingRequest(query))?.clientName,
      signedInAs: (yield* visitor)?.email,
      faults: rejection?.faults ?? [],
      ...(form === undefined ? {} : enteredIn(form))
    }
    const response = page(kind === "sign-in" ? signInPage(props) : signUpPage(props), rejection?.status ?? 200)
    return yield* remember(
      rejection?.retryAfter === undefined
        ? response
        : HttpServerResponse.setHeader(response, "retry-after", String(rejection.retryAfter))
    )
  })

  /** Redirects to the page of ours or the authorization request that led here, else to the list of grants. */
  const continueAfter = Effect.fn("pages.goOn")(function*(query: string, token: string) {
    const own = ownPage(links, query)
    if (own !== undefined) return seeOther(own)
    const pending = yield* pendingRequest(query)
    if (pending === undefined) return seeOther(links.grants())
    const actor = yield* accounts.authenticate(token)
    const href = links.authorize(query)
    // A redirect after the password form may lead to our own pages only (respond.ts).
    return Option.isSome(actor) && (yield* pending.staysHere(actor.value))
      ? seeOther(href)
      : page(continuePage({ clientName: pending.clientName, href }))
  })

  const enter = Effect.fn("pages.enter")(function*(kind: Kind) {
    const query = yield* currentQuery
    const form = yield* readForm(settings)
    const { holder } = yield* makeVisit(settings)
    const isTicketValid = yield* tickets.isValid(form.get("ticket"), { form: kind, holder, query })
    const session = yield* Effect.either(isTicketValid ? attempt[kind](form) : stale)
    if (session._tag === "Left") return yield* show(kind, form, session.left)
    const previous = yield* visitor
    if (previous !== undefined) yield* Effect.ignore(Effect.provideService(accounts.logOut, CurrentActor, previous))
    return yield* withSession(settings, session.right)(yield* continueAfter(query, session.right.token))
  })

  return { show: (kind: Kind) => show(kind), enter } as const
})
