/**
 * A number as E.164 has it, without the spaces, dots, hyphens and brackets that people put in, and without the zero in
 * brackets that is dialled within a country only; undefined for others.
 */
export const international = (phone: string) => {
  const digits = phone.replace(/\(\s*0\s*\)/, "").replace(/[\s().-]/g, "")
  return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : undefined
}

/** Whether two texts name one number: people spell it one way here and another there. */
export const samePhone = (one: string | null, other: string | null) => {
  if (one === null || other === null) return false
  return (international(one) ?? one) === (international(other) ?? other)
}
