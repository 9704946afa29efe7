//! Google Gemini's generateContent.
