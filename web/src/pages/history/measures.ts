import { groupedText, moneyText, tokensText } from '../../format.js'
import type { Measure } from './bars.js'

export interface MeasureWords {
  label: string
  /** Named in a sentence: "spend by day". */
  noun: string
  format: (value: number | null) => string
  isWhole: boolean
}

export const MEASURES: Record<Measure, MeasureWords> = {
  cost_usd: { label: 'Spend', noun: 'spend', format: moneyText, isWhole: false },
  sessions: { label: 'Sessions', noun: 'sessions', format: groupedText, isWhole: true },
  steps: { label: 'Steps', noun: 'steps', format: groupedText, isWhole: true },
  output_tokens: { label: 'Output', noun: 'output tokens', format: tokensText, isWhole: true },
  compactions: { label: 'Compactions', noun: 'compactions', format: groupedText, isWhole: true },
  handoffs: { label: 'Handoffs', noun: 'handoffs', format: groupedText, isWhole: true },
  tokens_saved: { label: 'Saved', noun: 'tokens saved', format: tokensText, isWhole: true },
}

export const isMeasure = (name: string): name is Measure => Object.hasOwn(MEASURES, name)
