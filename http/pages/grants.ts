import { withSession } from "#http/callers/session-cookie.ts"
import { Accounts } from "#src/accounts/Accounts.ts"
import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Grants } from "#src/oauth/Grants.ts"
import { Effect } from "effect"
import { accountNav } from "./account-nav.ts"
import { readForm } from "./form.ts"
import { grantsPage } from "./grants-page.ts"
import { currentQuery, linksOf } from "./links.ts"
import { page, seeOther } from "./respond.ts"
import { makeTickets } from "./tickets.ts"
import { visitor } from "./visit.ts"

const perPage = 50

/** The page where a user sees and revokes grants, and signs out. */
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
    const query = new URLSearchParams(yield* currentQuery)
    const cursor = query.get("cursor")
    const { data, meta } = yield* Effect.provideService(
      grants.list({ limit: perPage, ...(cursor === null ? {} : { cursor }) }),
      CurrentActor,
      actor
    )
    const text = grantsPage({
      nav: accountNav(links, "grants"),
      action: links.grants(),
      signOut: links.signOut(),
      ticket: yield* tickets.issue(purpose(actor)),
      user: actor.email,
      grants: data,
      more: meta.cursor === null ? undefined : links.grants(String(new URLSearchParams({ cursor: meta.cursor }))),
      revoked: query.has("revoked")
    })
    return page(text)
  })

  /** Runs for a form of the page; a page that was open too long is shown again. */
  const submitted = <E, R>(
    run: (actor: Actor, form: URLSearchParams) => Effect.Effect<ReturnType<typeof page>, E, R>
  ) =>
    Effect.gen(function*() {
      const form = yield* readForm(settings)
      const actor = yield* visitor
      if (actor === undefined) return seeOther(links.signIn())
      return (yield* tickets.isValid(form.get("ticket"), purpose(actor)))
        ? yield* run(actor, form)
        : seeOther(links.grants())
    })

  // When sent twice, the second finds no grant: the page shows the list.
  const revoke = submitted((actor, form) =>
    grants.revoke(form.get("grant") ?? "").pipe(
      Effect.as(seeOther(links.grants("revoked"))),
      Effect.catchTag("GrantNotFound", () => Effect.succeed(seeOther(links.grants()))),
      Effect.provideService(CurrentActor, actor)
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
