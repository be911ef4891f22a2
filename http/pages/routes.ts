import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { makeAuthorize } from "./authorize.ts"
import { makeGrants } from "./grants.ts"
import { makeSignIn } from "./sign-in.ts"

/** What people see in a browser when an application asks for access, and where they take it back. */
export const PagesRoutes = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    const authorize = yield* makeAuthorize
    const signIn = yield* makeSignIn(authorize)
    const grants = yield* makeGrants

    yield* router.get("/api/v1/oauth/authorize", authorize.authorize)
    yield* router.post("/oauth/consent", authorize.decide)
    yield* router.get("/oauth/sign-in", signIn.show("sign-in"))
    yield* router.post("/oauth/sign-in", signIn.enter("sign-in"))
    yield* router.get("/oauth/sign-up", signIn.show("sign-up"))
    yield* router.post("/oauth/sign-up", signIn.enter("sign-up"))
    yield* router.get("/oauth/grants", grants.show)
    yield* router.post("/oauth/grants", grants.revoke)
    yield* router.post("/oauth/sign-out", grants.signOut)
  })
)
