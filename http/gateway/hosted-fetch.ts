import { LingeringResponse } from "#http/connection/linger.ts"
import { TakeableRequest } from "#http/connection/taken-body.ts"
import { HostedFetch } from "#src/composites/HostedFetch.ts"
import { fetchThrough } from "#src/machines/machine-fetch.ts"
import { Effect, Layer } from "effect"
import { Agent, createServer } from "node:http"
import { failure } from "./answer.ts"
import { type Gateway, HostedGateway } from "./Gateway.ts"
import { memorySockets } from "./memory-socket.ts"

/** Of one answer, or of one event stream. */
const maxBytes = 2 * 1024 * 1024

/** A server that listens nowhere: its connections are made in this process. */
const inside = ({ handle, match }: Gateway) =>
  createServer(
    {
      IncomingMessage: TakeableRequest,
      ServerResponse: LingeringResponse<TakeableRequest>,
      requestTimeout: 0,
      keepAliveTimeout: 0
    },
    (req, res) => {
      const found = match(req)
      if (found !== undefined) return handle(found, req, res)
      const { body, status } = failure(404, "NOT_FOUND", "There is no such server")
      res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    }
  )

/** Connections that wait for the next request; they cost memory alone. */
const mostIdle = 64

/** The gateway as composites use it: without a network between. */
export const HostedFetchLive = Layer.effect(
  HostedFetch,
  Effect.map(HostedGateway, (gateway) => {
    const server = inside(gateway)
    const agent = new Agent({ keepAlive: true, maxFreeSockets: mostIdle })
    agent.createConnection = () => {
      const [ours, theirs] = memorySockets()
      server.emit("connection", theirs)
      return ours
    }
    return (headers) => (url, init) =>
      fetchThrough(() => ({ agent }), { ...headers, host: new URL(url).host }, maxBytes)(url, init)
  })
)
