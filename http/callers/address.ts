import { clientAddress } from "#src/shared/client-address.ts"
import { type IncomingMessage } from "node:http"

/** The address that a request to a hosted server is counted by. */
export const addressOf = ({ headers, socket }: IncomingMessage, trustProxy: number) =>
  clientAddress(socket.remoteAddress, headers["x-forwarded-for"]?.toString(), trustProxy)
