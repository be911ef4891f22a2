import { isPackage } from "#src/packages/reference.ts"

/** What a server's `requireMcp` is decided by. */
export interface McpCircumstances {
  /** The owner's setting; null: decided by the rest. */
  readonly requireMcp: boolean | null
  /** Of the newest deployment that has not failed, else of the newest; null before the first. */
  readonly imageUri: string | null
  /** Whether agents find it as the server of a business. */
  readonly isOfPublishedBusiness: boolean
}

/**
 * Whether a deployment whose MCP handshake fails is a failed one (docs/decisions/health-gate.md). Nobody packages for npm
 * or PyPI, and hosts here, what is no MCP server.
 */
export const requiresMcp = ({ imageUri, isOfPublishedBusiness, requireMcp }: McpCircumstances): boolean =>
  requireMcp ?? (isOfPublishedBusiness || imageUri !== null && isPackage(imageUri))
