import { existsSync } from 'node:fs'
import type { OpenHouse, Patient } from './patient.js'

/** Asks the store something; null: there is none, or it cannot be opened, which another check tells. */
export function withHouse<T>(patient: Patient, ask: (house: OpenHouse) => T): T | null {
  if (!existsSync(patient.home.store)) return null
  try {
    const house = patient.instruments.openHouse(patient.env)
    try {
      return ask(house)
    } finally {
      house.close()
    }
  } catch {
    return null
  }
}
