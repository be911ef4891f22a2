import { type ClientResponse } from "#http/connection/client-response.ts"
import { type Route } from "#src/routing/Route.ts"
import { type Routes } from "#src/routing/Routes.ts"

/** In case a notification was missed. */
const lookAgainMillis = 60_000
/** A client that says nothing for a day connects again, which shows that it is there. */
const longestMillis = 24 * 60 * 60_000

/** Whether the server sleeps for want of use since its machine had this stream. */
const sleeps = ({ mark }: Route, now: Route | undefined) =>
  now?.asleep === true && now.status === "stopped" && now.mark?.version === mark?.version &&
  now.mark?.run === mark?.run

/**
 * Keeps streams open that their machine has ended to sleep (docs/decisions/silent-streams.md): a client that found its
 * stream ended would open it again, and wake the server. Calls back when it wakes, is deployed, stopped or deleted.
 */
export const keepStream = (
  routes: Pick<Routes, "find" | "onChange" | "peek">,
  route: Route,
  res: ClientResponse,
  end: () => void
) => {
  const { slug } = route
  const known = routes.peek(slug)
  if (known !== undefined && !sleeps(route, known)) return end()
  const since = performance.now()
  const stop = () => {
    unsubscribe()
    clearInterval(timer)
    res.off("close", stop)
  }
  const finish = () => {
    stop()
    end()
  }
  const look = () => {
    if (performance.now() - since > longestMillis) return finish()
    routes.find(slug).then((now) => sleeps(route, now) || finish(), finish)
  }
  const unsubscribe = routes.onChange(slug, look)
  const timer = setInterval(look, lookAgainMillis).unref()
  res.once("close", stop)
  look()
}
