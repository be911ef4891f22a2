import { Accounts } from "#src/accounts/Accounts.ts"
import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/Config.ts"
import { Effect } from "effect"
import { withSession } from "../accounts/cookie.ts"
import { readForm } from "./form.ts"
import { grantsPage } from "./grants-page.ts"
import { currentQuery, linksOf } from "./links.ts"
import { page, seeOther } from "./respond.ts"
import { Grants } from "./seam.ts"
import { makeTickets } from "./tickets.ts"
import { visitor } from "./visit.ts"

/** The page where a user sees and takes back what it allowed, and signs out. */
export const makeGrants = Effect.gen(function*() {
  const accounts = yield* Accounts
  const grants = yield* Grants
  const settings = yield* CurrentSettings
  const tickets = yield* makeTickets
  const links = linksOf(settings)
  const purpose = (actor: Actor) => ({ form: "grants", holder: actor.credential.id, query: "" }) as const

  const show = Effect.gen(function*() {
    const actor = yield* visitor
    if (actor === undefined) return seeOther(links.signIn())
    const text = grantsPage({
      action: links.grants(),
      signOut: links.signOut(),
      ticket: yield* tickets.issue(purpose(actor)),
      user: actor.email,
      grants: yield* Effect.provideService(grants.list, CurrentActor, actor),
      revoked: (yield* currentQuery) === "revoked"
    })
    return page(text)
  })

  /** Runs for a form of the page; a page that lay open too long is shown anew. */
  const submitted = <E, R>(
    run: (actor: Actor, form: URLSearchParams) => Effect.Effect<ReturnType<typeof page>, E, R>
  ) =>
    Effect.gen(function*() {
      const form = yield* readForm(settings)
      const actor = yield* visitor
      if (actor === undefined) return seeOther(links.signIn())
      return (yield* tickets.isGood(form.get("ticket"), purpose(actor)))
        ? yield* run(actor, form)
        : seeOther(links.grants())
    })

  const revoke = submitted((actor, form) =>
    Effect.as(
      Effect.provideService(grants.revoke(form.get("grant") ?? ""), CurrentActor, actor),
      seeOther(links.grants("revoked"))
    )
  )

  const signOut = submitted((actor) =>
    Effect.zipRight(
      Effect.provideService(accounts.logOut, CurrentActor, actor),
      withSession(settings, undefined)(seeOther(links.signIn()))
    )
  )

  return { show, revoke, signOut } as const
})
