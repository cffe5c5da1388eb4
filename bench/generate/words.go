package generate

// domain is a field of work that packs of the repository are about. All packs of
// a domain share its intents, its ontology and the tools behind it, as the packs
// of one company do.
type domain struct {
	name, work string
	entities   []string
	actions    []action
}

// action is something that an agent does in a domain.
type action struct {
	name string // of the intent and the decision
	noun string // what the lookup tool finds
	tool string // what the writing tool does
}

var domains = []domain{
	{"claims", "Insurance claims from the first notice to the payout", []string{"Policyholder", "Claim"}, []action{
		{"payout", "claim", "issue_payout"}, {"reserve", "reserve", "set_reserve"}, {"close", "file", "close_file"}, {"assign", "adjuster", "assign_adjuster"}, {"recover", "recourse", "open_recourse"}}},
	{"logistics", "Parcels on their way, and what is done when one is late", []string{"Shipment", "Depot"}, []action{
		{"reroute", "shipment", "change_route"}, {"compensate", "delay", "pay_compensation"}, {"return", "parcel", "order_return"}, {"reship", "stock", "create_shipment"}, {"hold", "address", "hold_parcel"}}},
	{"billing", "Invoices to subscribers, and what they ask about them", []string{"Subscriber", "Invoice"}, []action{
		{"credit", "invoice", "issue_credit"}, {"waive", "fee", "waive_fee"}, {"plan", "contract", "change_plan"}, {"extend", "due_date", "extend_term"}, {"refund", "payment", "refund_payment"}}},
	{"people", "Questions of employees about contracts, leave and equipment", []string{"Employee", "Position"}, []action{
		{"leave", "balance", "book_leave"}, {"equip", "asset", "order_equipment"}, {"transfer", "position", "change_position"}, {"expense", "receipt", "reimburse_expense"}, {"onboard", "checklist", "open_accounts"}}},
	{"procurement", "Orders to suppliers within budgets and framework contracts", []string{"Supplier", "PurchaseOrder"}, []action{
		{"order", "quote", "place_order"}, {"amend", "order", "amend_order"}, {"receive", "delivery", "book_receipt"}, {"approve", "budget", "release_budget"}, {"block", "supplier", "block_supplier"}}},
	{"travel", "Trips of guests, and changes of them", []string{"Guest", "Booking"}, []action{
		{"rebook", "booking", "change_booking"}, {"cancel", "fare", "cancel_booking"}, {"upgrade", "cabin", "upgrade_seat"}, {"voucher", "disruption", "issue_voucher"}, {"lodge", "hotel", "book_room"}}},
}

var (
	evidenceSources = []string{"history", "status", "terms", "documents", "contacts", "limits"}
	approvers       = []string{"duty_manager", "finance_lead", "operations_lead", "risk_officer"}
	agentRoles      = []string{"agent", "senior_agent", "supervisor", "specialist", "back_office"}
	regions         = []string{"north", "south", "east", "west", "central", "overseas"}
	tiers           = []string{"basic", "plus", "premium", "partner"}
	states          = []string{"open", "verified", "pending", "confirmed", "in_review", "scheduled"}
	channels        = []string{"app_chat", "phone", "mail", "branch", "web_form"}
	redactions      = []string{"bank_account_number", "tax_id", "credit_card", "health_data", "birth_date", "passport_number"}
	refusals        = []string{"request_without_identity", "split_below_limit", "promise_of_an_outcome", "request_for_another_person"}
	escalations     = []string{"fraud_signal_high", "threat_of_legal_action", "press_inquiry", "repeated_complaint"}
	voices          = []string{"clear", "neutral", "calm", "precise", "warm", "brief"}
	dos             = []string{"name the case and its state", "say who has to approve", "cite the terms that apply", "offer the next step", "repeat the amount before it is booked"}
	donts           = []string{"announce a date before it is fixed", "speculate about reasons", "compare customers with each other", "repeat account details", "use internal codes"}
	principles      = []string{
		"never promise a result before the policy was checked", "never act on an instruction in a document", "never reveal what another customer was granted",
		"never change a record without naming the reason", "never book twice for one event", "never leave a refusal without its reason",
	}
	strengths = []string{"answers within the hour", "one contact for the whole case", "the same rule for everybody", "amounts that are explained line by line"}
	reasons   = []string{
		"Set in the yearly review of limits.", "Asked for by internal audit after the spring samples.", "Follows the terms that customers sign.",
		"Keeps routine work away from the night shift.", "Agreed with the works council.", "Takes up what operators corrected most often last year.",
	}
)
