/*
 * Divides a piece of an account by the thread's activity, and by the threads responsible.
 * Called during the walk of account.c, on the same thread, for later stretches first. Every
 * nanosecond of a piece must end up in exactly one cell.
 */
#include "account_cells.h"

/* Finds the account's cell with that path, kind and who; adds the key itself if there was
 * none. */
static struct fxt_cell_of_time *account_cell(struct fxt_account *account, struct fxt_cell_of_time key)
{
	uint32_t hash = fxt_hash_word(fxt_hash_mix(key.path) ^ key.who << 3 ^ key.kind);

	for (struct fxt_probe probe = fxt_probe(&account->index, hash);
	        fxt_probe_next(&account->index, &probe);) {
		struct fxt_cell_of_time *cell = &account->cells[probe.id];

		if (cell->path == key.path && cell->kind == key.kind && cell->who == key.who)
			return cell;
	}
	fxt_index_add(&account->index, hash, (uint32_t)account->cell_count);
	fxt_make_room(account->cells, account->cell_count, account->cell_room);
	account->cells[account->cell_count] = key;
	return &account->cells[account->cell_count++];
}

struct fxt_cell_of_time *fxt_account_counts(
        const struct fxt_accounts *a, struct fxt_account *account, uint32_t path)
{
	enum fxt_cell_kind kind = fxt_timeline_is_known(a->timeline) ? FXT_CELL_RAN : FXT_CELL_UNKNOWN;

	return account_cell(account, (struct fxt_cell_of_time){.path = path, .kind = kind});
}

static void account_put(struct fxt_account *account, const struct fxt_account_piece *piece,
        enum fxt_cell_kind kind, uint64_t who, uint64_t ns)
{
	struct fxt_cell_of_time key = {.path = piece->path, .kind = kind, .who = who};

	account_cell(account, key)->ns += ns;
}

/* The pieces of a wait are consecutive, from its end backwards. */
static void account_put_wait(struct fxt_account *account, const struct fxt_account_piece *piece,
        enum fxt_cell_kind kind, uint64_t who, uint64_t ns)
{
	struct fxt_spill *waited = &account->waited;
	struct fxt_cell_of_time cell = {
	        .path = piece->path, .kind = kind, .who = who, .wait = piece->wait, .ns = ns};
	struct fxt_cell_of_time *last =
	        waited->count > 0 ? fxt_spill_change_item(waited, waited->count - 1) : NULL;

	if (last && last->wait == cell.wait && last->kind == kind && last->who == who)
		last->ns += ns;
	else
		fxt_spill_add(waited, &cell);
}

/* Divides time that the thread could have run by the threads that ran on its CPU. */
static void account_preempted(struct fxt_accounts *a, struct fxt_account *account,
        const struct fxt_account_piece *piece, const struct fxt_stretch *stretch, uint64_t from, uint64_t to)
{
	uint64_t place = fxt_timeline_cpu_at(a->timeline, stretch->cpu, from);

	for (uint64_t until; from < to; from = until) {
		until = to;
		uint64_t koid = fxt_timeline_on_cpu(a->timeline, &place, stretch->cpu, from, &until);

		account_put(account, piece, FXT_CELL_PREEMPTED, koid, until - from);
	}
}

static void account_waited(struct fxt_accounts *a, struct fxt_account *account,
        const struct fxt_account_piece *piece, uint64_t from, uint64_t to)
{
	const struct fxt_wait wait = fxt_waits_item(a->waits, piece->wait - 1);

	while (from < to) {
		uint64_t until = to;
		uint32_t release = fxt_waits_holder(a->waits, &wait, from, &until);
		bool is_over = release == FXT_NO_RELEASE && wait.release != FXT_NO_RELEASE;

		account_put_wait(account, piece, is_over ? FXT_CELL_WOKEN : FXT_CELL_WAITED,
		        release == FXT_NO_RELEASE ? 0 : (uint64_t)release + 1, until - from);
		from = until;
	}
}

/* Accounts for time with a single activity of the thread. */
static void account_one_activity(struct fxt_accounts *a, struct fxt_account *account,
        const struct fxt_account_piece *piece, enum fxt_activity activity, const struct fxt_stretch *stretch,
        uint64_t from, uint64_t to)
{
	if (from >= to)
		return;
	if (piece->of_tracer)
		account_put(account, piece, FXT_CELL_TRACER, 0, to - from);
	else if (activity == FXT_RUNNING)
		account_put(account, piece, FXT_CELL_RAN, 0, to - from);
	else if (activity == FXT_RUNNABLE)
		account_preempted(a, account, piece, stretch, from, to);
	else if (piece->wait)
		account_waited(a, account, piece, from, to);
	else if (activity == FXT_BLOCKED)
		account_put(account, piece, FXT_CELL_BLOCKED, stretch->blocker, to - from);
	else
		account_put(account, piece, FXT_CELL_UNKNOWN, 0, to - from);
}

/* Counts the faults between `from` and the time that is accounted for already. */
static void account_faults(struct fxt_accounts *a, struct fxt_account *account,
        const struct fxt_account_piece *piece, uint64_t from)
{
	uint64_t place = fxt_faults_back_to(a->faults, account->fault, account->thread, from);

	if (place < account->fault)
		fxt_account_counts(a, account, piece->path)->faults += account->fault - place;
	account->fault = place;
}

void fxt_account_take(struct fxt_accounts *a, struct fxt_account *account,
        const struct fxt_account_piece *piece, uint64_t from)
{
	uint64_t koid = a->scan->tables.threads[account->thread].thread, to = account->left;
	struct fxt_stretch stretch;

	if (from < account->start)
		from = account->start;
	if (from >= to)
		return;
	account->left = from;
	if (account->stretch == UINT64_MAX) {
		account->stretch = fxt_timeline_thread_at(a->timeline, koid, to - 1);
		account->fault = fxt_faults_at(a->faults, account->thread, to);
	}
	account_faults(a, account, piece, from);
	while (to > from) {
		if (!fxt_timeline_of_thread(a->timeline, account->stretch, koid, &stretch) ||
		        stretch.start >= to) {
			/* Nothing is known after the end of the previous stretch. */
			uint64_t end = from;

			if (account->stretch == 0 ||
			        !fxt_timeline_of_thread(a->timeline, account->stretch - 1, koid, &stretch)) {
				account_one_activity(a, account, piece, FXT_ACTIVITY_UNKNOWN, NULL, from, to);
				return;
			}
			account->stretch--;
			if (stretch.end > end)
				end = stretch.end < to ? stretch.end : to;
			account_one_activity(a, account, piece, FXT_ACTIVITY_UNKNOWN, NULL, end, to);
			to = end;
			continue;
		}
		uint64_t end = stretch.end < to ? stretch.end : to;
		uint64_t start = stretch.start > from ? stretch.start : from;

		if (end <= from) {
			account_one_activity(a, account, piece, FXT_ACTIVITY_UNKNOWN, NULL, from, to);
			return;
		}
		account_one_activity(a, account, piece, FXT_ACTIVITY_UNKNOWN, NULL, end, to);
		account_one_activity(a, account, piece, stretch.activity, &stretch, start, end);
		to = start;
	}
}
