import { type ClientResponse } from "#http/connection/client-response.ts"
import { type Route } from "#src/routing/Route.ts"
import { Runtime } from "effect"
import { type IncomingMessage } from "node:http"
import { type Answer, answer } from "./answer.ts"
import { type answerLimit } from "./limits.ts"

/** Answers in place of a server, within the limits of such answers. `letIn`: the caller may use that server. */
export const responder = (
  limited: ReturnType<typeof answerLimit>,
  runtime: Runtime.Runtime<never>,
  log: (message: string, error: unknown) => void
) =>
(req: IncomingMessage, res: ClientResponse, reply: Answer, letIn?: Route) =>
  void Runtime.runPromise(runtime)(limited(req, reply, letIn)).then((counted) => answer(req, res, counted)).catch(
    (error: unknown) => {
      log("A request could not be answered", error)
      res.destroy()
    }
  )
