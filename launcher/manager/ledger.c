/*
 * Notes the manager's progress in memory that the supervisor shares, and hands over
 * descriptors. Each entry is written by its provider's thread, and read by the supervisor
 * after the manager's death. Must never wait for the supervisor.
 */
#include "ledger.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "descriptors.h"
#include "writer/shared/atomics.h"
#include "writer/shared/handshake.h"

enum { SOCKET_BYTES = 16384 };

/* Sealed, because a program that made it shorter would kill its readers. */
static int ledger_open_common(struct fxt_ledger *ledger)
{
	void *common;
	int error;

	ledger->common_fd = memfd_create("fxt-common", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ledger->common_fd < 0)
		return errno;
	if (ftruncate(ledger->common_fd, FXT_COMMON_BYTES) == 0 &&
	        fcntl(ledger->common_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
		common = mmap(
		        NULL, FXT_COMMON_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ledger->common_fd, 0);
		if (common != MAP_FAILED) {
			ledger->common = common;
			return 0;
		}
	}
	error = errno;
	close(ledger->common_fd);
	return error;
}

int fxt_ledger_open(struct fxt_ledger *ledger)
{
	int ends[2], error;
	/* Room for some dozens: if the supervisor is stopped, memories in transit to it
	 * stay alive. */
	const int bytes = SOCKET_BYTES;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
		return errno;
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	*ledger = (struct fxt_ledger){.to_supervisor = ends[0], .from_manager = ends[1]};
	ledger->entries =
	        mmap(NULL, FXT_LEDGER_ENTRIES * sizeof(*ledger->entries) + sizeof(*ledger->segments),
	                PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	error = ledger->entries == MAP_FAILED ? errno : ledger_open_common(ledger);
	if (!error) {
		ledger->segments = (struct fxt_ledger_segments *)(ledger->entries + FXT_LEDGER_ENTRIES);
		return 0;
	}
	close(ends[0]);
	close(ends[1]);
	return error;
}

void fxt_ledger_send(const struct fxt_ledger *ledger, enum fxt_ledger_kind kind, uint32_t number,
        const int *fds, unsigned count)
{
	struct fxt_ledger_message message = {kind, number};

	if (!ledger->entries)
		return;
	fxt_descriptors_send(ledger->to_supervisor, &message, sizeof(message), fds, count);
}

void fxt_ledger_clear(const struct fxt_ledger *ledger)
{
	for (uint32_t i = 0; ledger->entries && i < FXT_LEDGER_ENTRIES && ledger->entries[i].identity.id; i++)
		ledger->entries[i] = (struct fxt_ledger_entry){0};
	if (ledger->entries)
		*ledger->segments = (struct fxt_ledger_segments){0};
}

struct fxt_ledger_entry *fxt_ledger_add(const struct fxt_ledger *ledger,
        const struct fxt_archive_provider *identity, pid_t pid, pid_t own_pid, uint64_t process_koid)
{
	struct fxt_ledger_entry *entry;

	if (!ledger->entries || identity->id > FXT_LEDGER_ENTRIES)
		return NULL;
	entry = &ledger->entries[identity->id - 1];
	*entry = (struct fxt_ledger_entry){
	        .identity = *identity, .pid = pid, .own_pid = own_pid, .process_koid = process_koid};
	return entry;
}

/* Keeps an earlier page's place in the archive, and the amount taken up to there. If the
 * names were cleared since, they are taken from the beginning. */
static void ledger_keep_place(struct fxt_ledger_page *page, const struct fxt_ledger_page *earlier)
{
	page->archive_bytes = earlier->archive_bytes;
	page->section = earlier->section;
	page->events = earlier->events;
	if (page->durable_saved > earlier->durable_saved)
		page->durable_saved = earlier->durable_saved;
}

void fxt_ledger_note(struct fxt_ledger_entry *entry, struct fxt_archive_writer *archive,
        const struct fxt_archive_provider *identity, struct fxt_ledger_page page, bool is_ahead)
{
	const struct fxt_ledger_page *earlier;
	uint32_t next;

	if (!entry)
		return;
	earlier = fxt_ledger_page(entry);
	next = !entry->current;
	pthread_mutex_lock(&archive->lock);
	page.archive = archive->number;
	page.archive_bytes = archive->bytes;
	page.bytes_lost = archive->bytes_lost;
	page.section = archive->section;
	page.announced = identity->announced;
	pthread_mutex_unlock(&archive->lock);
	page.may_repeat = is_ahead && (earlier->may_repeat || page.archive != earlier->archive);
	if (is_ahead && page.archive == earlier->archive)
		ledger_keep_place(&page, earlier);
	entry->pages[next] = page;
	/* Release: the page is complete before it counts. Pairs with the acquire of
	 * fxt_ledger_page(). */
	store_release(&entry->current, next);
}

void fxt_ledger_note_segment(struct fxt_ledger_entry *entry, uint64_t generation)
{
	if (entry)
		store_relaxed(&entry->segment, generation);
}

uint32_t fxt_ledger_take_untraced(const struct fxt_ledger *ledger)
{
	return exchange_acquire(&ledger->common->untraced, 0);
}

void fxt_ledger_drop(const struct fxt_ledger *ledger, uint64_t generation)
{
	/* Release: stored before the records are gone. The oldest is dropped first. */
	if (ledger->entries)
		store_release(&ledger->segments->kept_from, generation + 1);
}

void fxt_ledger_note_join(const struct fxt_ledger *ledger, enum fxt_ledger_join join, uint64_t archive_bytes)
{
	if (!ledger->entries)
		return;
	store_relaxed(&ledger->segments->joined_at, archive_bytes);
	store_release(&ledger->segments->join, join);
}

bool fxt_ledger_is_dropped(const struct fxt_ledger *ledger, const struct fxt_ledger_entry *entry)
{
	return entry->segment && entry->segment < load_acquire(&ledger->segments->kept_from);
}

bool fxt_ledger_receive(const struct fxt_ledger *ledger, struct fxt_ledger_message *message, int fds[2])
{
	return fxt_descriptors_receive(ledger->from_manager, message, sizeof(*message), fds);
}

const struct fxt_ledger_page *fxt_ledger_page(const struct fxt_ledger_entry *entry)
{
	return &entry->pages[load_acquire(&entry->current) & 1];
}
