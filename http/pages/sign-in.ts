import { withSession } from "#http/callers/session-cookie.ts"
import { Accounts } from "#src/accounts/Accounts.ts"
import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { HttpServerResponse } from "@effect/platform"
import { Effect, Option } from "effect"
import { enteredIn, makeAttempt, NotEntered } from "./attempt.ts"
import { type Authorize } from "./authorize.ts"
import { readForm } from "./form.ts"
import { currentQuery, linksOf } from "./links.ts"
import { continuePage } from "./message-page.ts"
import { page, seeOther } from "./respond.ts"
import { signInPage, type SignInProps, signUpPage } from "./sign-in-page.ts"
import { makeTickets } from "./tickets.ts"
import { makeVisit, visitor } from "./visit.ts"

type Kind = "sign-in" | "sign-up"

const stale = new NotEntered({
  faults: [{ message: "The page was open for too long, or without cookies. Please enter your details again." }],
  status: 403
})

/** The pages where a visitor becomes a user. */
export const makeSignIn = Effect.fn("pages.makeSignIn")(function*({ outlook }: Authorize) {
  const accounts = yield* Accounts
  const attempt = yield* makeAttempt
  const settings = yield* CurrentSettings
  const tickets = yield* makeTickets
  const links = linksOf(settings)

  const show = Effect.fn("pages.showSignIn")(function*(kind: Kind, form?: URLSearchParams, refusal?: NotEntered) {
    const query = yield* currentQuery
    const { holder, remember } = yield* makeVisit(settings)
    const [action, other] = kind === "sign-in" ? [links.signIn, links.signUp] : [links.signUp, links.signIn]
    const props: SignInProps = {
      action: action(query),
      other: other(query),
      ticket: yield* tickets.issue({ form: kind, holder, query }),
      clientName: (yield* outlook(query))?.clientName,
      signedInAs: (yield* visitor)?.email,
      faults: refusal?.faults ?? [],
      ...(form === undefined ? {} : enteredIn(form))
    }
    const response = page(kind === "sign-in" ? signInPage(props) : signUpPage(props), refusal?.status ?? 200)
    return yield* remember(
      refusal?.retryAfter === undefined
        ? response
        : HttpServerResponse.setHeader(response, "retry-after", String(refusal.retryAfter))
    )
  })

  /** Where the visitor wanted to go. */
  const goOn = Effect.fn("pages.goOn")(function*(query: string, token: string) {
    const ahead = yield* outlook(query)
    if (ahead === undefined) return seeOther(links.grants())
    const actor = yield* accounts.authenticate(token)
    const href = links.authorize(query)
    // From the page that holds the password, a form's redirect may lead to pages of ours only (respond.ts).
    return Option.isSome(actor) && (yield* ahead.staysHere(actor.value))
      ? seeOther(href)
      : page(continuePage({ clientName: ahead.clientName, href }))
  })

  const enter = Effect.fn("pages.enter")(function*(kind: Kind) {
    const query = yield* currentQuery
    const form = yield* readForm(settings)
    const { holder } = yield* makeVisit(settings)
    const admitted = yield* tickets.isGood(form.get("ticket"), { form: kind, holder, query })
    const session = yield* Effect.either(admitted ? attempt[kind](form) : stale)
    if (session._tag === "Left") return yield* show(kind, form, session.left)
    const before = yield* visitor
    if (before !== undefined) yield* Effect.ignore(Effect.provideService(accounts.logOut, CurrentActor, before))
    return yield* withSession(settings, session.right)(yield* goOn(query, session.right.token))
  })

  return { show: (kind: Kind) => show(kind), enter } as const
})
